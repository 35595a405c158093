import { type ExecutionContext, Injectable, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { ACCESS, type Access } from './access.js';
import { type Role, ROLES } from './roles.js';

type Handler = (...args: never[]) => unknown;
type Controller = abstract new (...args: never[]) => unknown;

/**
 * Reads who may call a handler, from the handler or from its controller. The service does not start while a handler
 * declares nothing.
 */
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
          throw new Error(`${metatype?.name}.${name} does not declare who may call it.`);
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

/** The role that the declaration names; undefined for the other kinds of access. */
export function requiredRole(access: Access): Role | undefined {
  return ROLES.find((role) => role === access);
}
