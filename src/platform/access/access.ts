import {
  type ExecutionContext,
  Injectable,
  type OnModuleInit,
  applyDecorators,
  SetMetadata,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
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

/**
 * Declares who may call the handler, for the guards and for the contract. A handler without a declaration refuses
 * everybody.
 */
export const Allow = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), ApiExtension(ACCESS_EXTENSION, access));

export const Requires = (role: Role) => Allow(role);

export const Public = () => Allow('public');

export const Page = () => Allow('page');

type Handler = (...args: never[]) => unknown;
type Controller = abstract new (...args: never[]) => unknown;

/** Reads the declared access of a handler or its controller. The service does not start if a handler declares none. */
@Injectable()
export class DeclaredAccess implements OnModuleInit {
  private readonly known = new WeakMap<object, Access>();

  constructor(
    private readonly reflector: Reflector,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    for (const { metatype, instance } of this.discovery.getControllers()) {
      const prototype = Object.getPrototypeOf(instance) as Record<string, Handler>;
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const handler = prototype[name]!;
        const isRoute = Reflect.getMetadata(METHOD_METADATA, handler) !== undefined;
        if (isRoute && this.read(handler, metatype as unknown as Controller) === undefined) {
          throw new Error(
            `${metatype?.name}.${name} must declare who may call it (@Requires, @Public or @Allow).`,
          );
        }
      }
    }
  }

  of(context: ExecutionContext): Access | undefined {
    const handler = context.getHandler() as Handler;
    const known = this.known.get(handler);
    if (known) return known;
    const access = this.read(handler, context.getClass());
    if (access) this.known.set(handler, access);
    return access;
  }

  private read(handler: Handler, controller: Controller): Access | undefined {
    return this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      handler as never,
      controller as never,
    ]);
  }
}

/** The role that a declaration names; `undefined` for other kinds of access. */
export function requiredRole(access: Access): Role | undefined {
  return ROLES.find((role) => role === access);
}
