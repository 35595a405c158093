import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Role } from './roles.js';

/**
 * Who may call a route:
 * - `public`: anybody;
 * - `metrics`: anybody who sends METRICS_TOKEN, and everybody while none is set;
 * - `operations`: every principal, and anybody who sends METRICS_TOKEN;
 * - `signature`: a webhook sender whose signature is valid;
 * - a role: principals with that role or one above it.
 */
export type Access = 'public' | 'metrics' | 'operations' | 'signature' | Role;

export const ACCESS = Symbol('access');
export const ACCESS_EXTENSION = 'x-access';

/** Declares who may call the handler, here and in the contract. A handler without it is refused to everyone. */
export const Allow = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), ApiExtension(ACCESS_EXTENSION, access));

/** For principals with this role or one above it. */
export const Requires = (role: Role) => Allow(role);

export const Public = () => Allow('public');
