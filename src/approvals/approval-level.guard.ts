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
import { RequiredLevels } from '../actions/policy/required-levels.js';
import { ActionsService } from '../actions/actions.service.js';
import { requireApprovalLevel } from '../auth/authorisation.js';
import { type Principal } from '../auth/principal.js';
import '../platform/http/request.js';
import { createValidationPipe } from '../platform/validation/validation.pipe.js';

const DECISION = Symbol('decision');

interface Decision {
  readonly body: Type;
  readonly kind: 'approve' | 'reject';
}

/** Only for who reaches the approval level of the action in the path; the role does not matter. */
export const RequiresItsLevel = (body: Type, kind: Decision['kind']): MethodDecorator =>
  applyDecorators(SetMetadata(DECISION, { body, kind }), UseGuards(ApprovalLevelGuard));

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
    private readonly levels: RequiredLevels,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { body, kind } = this.reflector.get<Decision>(DECISION, context.getHandler());
    if (!(await this.isWellFormed(request, body))) return true;
    const { id } = request.params as { id: string };
    const action = await this.actions.get(actionIdOf(id));
    const level =
      kind === 'approve' ? this.levels.forDecision(action) : (action.approvalLevel ?? 'none');
    requireApprovalLevel(request.caller as Principal, level);
    return true;
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
