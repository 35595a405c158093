import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { actionIdOf } from '../actions/action-id.js';
import { ActionsService } from '../actions/actions.service.js';
import { InsufficientApprovalLevelError } from '../actions/approval-level.errors.js';
import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Principal,
} from '../auth/principal.js';
import { Refusals } from '../auth/refusals/refusals.js';
import '../common/http/request.js';
import { createValidationPipe } from '../common/validation/validation.pipe.js';

const BODY_TYPE = Symbol('body type');

/** Only for who reaches the approval level of the action in the path; the role does not matter. */
export const RequiresItsLevel = (body: Type): MethodDecorator =>
  applyDecorators(SetMetadata(BODY_TYPE, body), UseGuards(ApprovalLevelGuard));

/**
 * Turns away whoever is below the action's level, before anything is opened. The decision judges again under its lock.
 * Callers learn of a malformed body before they learn of the action, so one that will be refused as such is let by.
 */
@Injectable()
export class ApprovalLevelGuard implements CanActivate {
  private readonly validation = createValidationPipe();

  constructor(
    private readonly reflector: Reflector,
    private readonly actions: ActionsService,
    private readonly refusals: Refusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const body = this.reflector.get<Type>(BODY_TYPE, context.getHandler());
    if (!(await this.isWellFormed(request, body))) return true;
    const { id } = request.params as { id: string };
    const { approvalLevel = 'none' as ApprovalLevel } = await this.actions.get(actionIdOf(id));
    const caller = request.caller as Principal;
    if (levelReaches(approvalLevelOf(caller.role), approvalLevel)) return true;
    await this.refusals.level(caller, approvalLevel, request);
    throw new InsufficientApprovalLevelError(approvalLevel, approvalLevelOf(caller.role));
  }

  private async isWellFormed(request: FastifyRequest, metatype: Type): Promise<boolean> {
    try {
      await this.validation.transform(request.body ?? {}, { type: 'body', metatype });
      return true;
    } catch {
      return false;
    }
  }
}
