import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import {
  type Action,
  type ActionStatus,
  type RequiredLevel,
  ACTION_STATUSES,
  REQUIRED_LEVELS,
} from '../action.js';
import { ActionId, shownActionId } from '../action-id.js';
import {
  Choice,
  Flag,
  Instant,
  JsonObject,
  Nested,
  Text,
} from '../../platform/validation/fields.js';
import type { WantedAction } from '../requests/joint-requests.js';
import { ActionResultDto } from './action-result.js';

export const PARAMETERS_EXAMPLE = { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' };

export const REPEAT =
  'Asks for it all the same where it waits, runs, or was done within `ACTION_REPEAT_MINUTES`.';

/** The contract has a schema for each type in its place: see action-request.openapi.ts. */
export class ActionRequestDto {
  @Choice('KnownActionType', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject({ optional: true })
  readonly parameters?: Record<string, unknown>;

  @Flag({ optional: true, description: REPEAT })
  readonly repeat?: boolean;

  static toWanted(this: void, body: ActionRequestDto): WantedAction {
    const { action, parameters = {}, repeat } = body;
    return { type: action, parameters, repeat };
  }
}

export class ExecutedActionDto {
  @ActionId()
  readonly action_id: string;

  @Choice('ActionStatus', ACTION_STATUSES, { example: 'completed' })
  readonly status: ActionStatus;

  @Nested(() => ActionResultDto, { optional: true, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'When it has to be approved.',
    example: 'senior',
  })
  readonly approval_level?: RequiredLevel;

  @Instant({
    optional: true,
    description: 'While it waits for approval: it can be approved before this time.',
    example: '2026-02-01T09:30:00.000Z',
  })
  readonly expires_at?: string;

  @Text({
    optional: true,
    description: 'While it waits for approval: who may give it.',
    example: 'isolate_host needs approval at level senior or higher.',
  })
  readonly message?: string;

  static from(this: void, action: Action): ExecutedActionDto {
    const { id, type, status, result, approvalLevel, expiresAt } = action;
    return {
      action_id: shownActionId(id),
      status,
      result: result && ActionResultDto.from(result),
      approval_level: approvalLevel,
      expires_at: expiresAt?.toISOString(),
      message: status === 'pending_approval' ? whoMayApprove(type, approvalLevel) : undefined,
    };
  }
}

function whoMayApprove(type: ActionTypeName, level: RequiredLevel | undefined): string {
  return `${type} needs approval at level ${level}${level === 'manager' ? '' : ' or higher'}.`;
}

/** 202 while the work is not finished. An action that failed has finished: that is an outcome, and no error. */
export function statusOfExecution({ status }: Pick<Action, 'status'>): number {
  return status === 'pending' || status === 'pending_approval' ? 202 : 200;
}
