import { type ExecutionContext, applyDecorators, SetMetadata } from '@nestjs/common';
import { type Role, ROLES } from './roles.js';
import { ApiExtension } from '@nestjs/swagger';

/**
 * Callers that a route accepts:
 * - `public`: everybody;
 * - `page`: everybody; a valid session is recognised;
 * - `metrics`: callers that send METRICS_TOKEN, or everybody if METRICS_TOKEN is not set;
 * - `operations`: every principal, and callers that send METRICS_TOKEN;
 * - `signature`: webhook senders with a valid signature;
 * - a role: principals with this role or a higher one.
 */
export type Access = 'public' | 'page' | 'metrics' | 'operations' | 'signature' | Role;

export const ACCESS = Symbol('access');
export const ACCESS_EXTENSION = 'x-access';

export const Allow = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), ApiExtension(ACCESS_EXTENSION, access));

export const Requires = (role: Role) => Allow(role);

export const Public = () => Allow('public');

export const Page = () => Allow('page');

/** Returns the access of the handler or its controller. Without a declared access, all requests are rejected. */
export function accessOf(context: ExecutionContext): Access | undefined {
  const own: unknown = Reflect.getMetadata(ACCESS, context.getHandler());
  return (own ?? Reflect.getMetadata(ACCESS, context.getClass())) as Access | undefined;
}

export function requiredRole(access: Access): Role | undefined {
  return ROLES.find((role) => role === access);
}
