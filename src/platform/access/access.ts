import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Role } from './roles.js';

/**
 * Who may call an address.
 * - `public`: anyone. - `metrics`: whoever has METRICS_TOKEN, when one is set. - `operations`: a principal, or whoever
 * has METRICS_TOKEN. - `signature`: a webhook sender with a valid signature. - a role: principals from that role upward.
 */
export type Access = 'public' | 'metrics' | 'operations' | 'signature' | Role;

export const ACCESS = Symbol('access');
export const ACCESS_EXTENSION = 'x-access';

/** Declares who may call the handler, here and in the contract. A handler without it is refused to everyone. */
export const Allow = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), ApiExtension(ACCESS_EXTENSION, access));

/** From this role upward. */
export const Requires = (role: Role) => Allow(role);

export const Public = () => Allow('public');
