import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { bareMessageId } from '../action-catalogue/parameters.js';
import type { LockedIncident } from '../incidents/incident.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  JsonObject,
  Text,
} from '../platform/validation/fields.js';

export const ACTION_STATUSES = [
  'pending',
  'pending_approval',
  'completed',
  'failed',
  'rejected',
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** Levels of approval that an action can need. */
export const REQUIRED_LEVELS = ['analyst', 'senior', 'manager'] as const;
export type RequiredLevel = (typeof REQUIRED_LEVELS)[number];

/** Reasons for a failure, for programs. */
export const FAILURE_CODES = [
  'refused',
  'unreachable',
  'timeout',
  'no_connector',
  'outcome_unknown',
  'interrupted',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

const CODES = `\`refused\`: the vendor refused the action. \`unreachable\`: the vendor could not be reached, or did not answer a look-up.
\`timeout\`: the outcome is not known, and the action can be requested again. \`no_connector\`: no enabled connector provides the type.
\`outcome_unknown\`: a call was sent that must not be repeated, and its outcome is not known. \`interrupted\`: the service
stopped before it sent a call.`;

export class ActionResultDto {
  @Flag({ example: true })
  readonly success: boolean;

  @Text({ description: 'Result in words.', example: 'The email was moved.' })
  readonly message: string;

  @Choice('ActionFailureCode', FAILURE_CODES, {
    optional: true,
    description: `Why it failed, for programs. ${CODES}`,
  })
  readonly code?: FailureCode;

  @Flag({
    optional: true,
    description: 'Nothing happened outside: the sandbox connector answered.',
    example: true,
  })
  readonly simulated?: true;

  @JsonObject({
    optional: true,
    description: 'What a look-up found, or further details from the vendor.',
  })
  readonly data?: Readonly<Record<string, unknown>>;
}

export type ActionResult = ActionResultDto;

/** What the action would touch outside, as its connector found when the action began to wait for approval. */
export interface ActionPreview {
  /** Absent if the connector could not find out; the message says why. */
  readonly count?: number;
  readonly message: string;
}

/** Phase of a run. `claimed`: a call may be under way. `accepted`: the vendor accepted the action and works on it. */
export type Phase = 'claimed' | 'accepted';

export type Parameters = Readonly<Record<string, unknown>>;

/** Part of the incident that is shown with an action, and its mail, which is not shown. */
export type ActionIncident = Omit<LockedIncident, 'id'>;

export interface Action {
  /** UUID. Answers show it as `act-<uuid>`. */
  readonly id: string;
  readonly incident_id?: string;
  /** Absent for direct actions, and if the incident was deleted. */
  readonly incident?: ActionIncident;
  readonly action_type: ActionTypeName;
  readonly parameters: Parameters;
  readonly status: ActionStatus;
  readonly approval_level?: RequiredLevel;
  readonly requested_by: string;
  readonly requested_at: Date;
  /** Playbook run that requested the action. */
  readonly playbook_run_id?: string;
  /** Principal who started that run. Absent for an automatic run. The principal counts as a requester of its actions. */
  readonly on_behalf_of?: string;
  /** Of a step of an automatic run: who wrote the version of its playbook, let it run automatically or trusted the verdict. */
  readonly authors?: readonly string[];
  /** For a rollback: the action that it rolls back, and why. */
  readonly rollback_of?: string;
  readonly reason?: string;
  readonly rolled_back_by?: string;
  /** Time from which the action can no longer be approved. */
  readonly expires_at?: Date;
  /** Time of the last reminder that the approval expires soon. */
  readonly reminded_at?: Date;
  readonly preview?: ActionPreview;
  readonly approved_by?: string;
  readonly approved_at?: Date;
  readonly comment?: string;
  readonly rejected_by?: string;
  readonly rejected_at?: Date;
  readonly rejection_reason?: string;
  /** `expired`: nobody decided in time. Absent for other rejections. */
  readonly rejection_code?: 'expired';
  readonly executed_by?: string;
  readonly executed_at?: Date;
  readonly result?: ActionResult;
  readonly phase?: Phase;
  /** A call may have been sent, in this attempt or an earlier one. */
  readonly sent: boolean;
  /** Number of the latest claim. Writes of an earlier claim are refused. */
  readonly fence: number;
  readonly connector_id?: string;
  /** Handle of the vendor for questions about the progress. */
  readonly handle?: Readonly<Record<string, unknown>>;
  /** Time at which the vendor accepted the action. */
  readonly accepted_at?: Date;
}

/**
 * The sender of the incident's mail, if the action names that mail: the action is bound to it. A stranger chooses the id of a
 * mail, and may choose that of another one. Mail services compare ids without regard to case.
 */
export function reportedSender({
  parameters,
  incident,
}: {
  readonly parameters: Parameters;
  readonly incident?: Pick<LockedIncident, 'mail'>;
}): string | undefined {
  const wanted = parameters['message_id'];
  const { messageId, sender } = incident?.mail ?? {};
  if (typeof wanted !== 'string' || messageId === undefined) return undefined;
  const [named, reported] = [wanted, messageId].map((id) => bareMessageId(id).toLowerCase());
  return named === reported ? sender : undefined;
}

/** Actor of changes that no person makes, such as the expiry of an approval. */
export const SYSTEM = 'system';

const NOBODY = /^(playbook:|webhook:|system$)/;

/** Whether the principal is a user or an API key, and not a playbook, a webhook source or the service. */
export function isPerson(principal: string): boolean {
  return !NOBODY.test(principal);
}

/** Whoever approved it; else who requested it, where that is a person; else the system. */
export function executedBy({
  approved_by,
  requested_by,
}: Pick<Action, 'approved_by' | 'requested_by'>): string {
  return approved_by ?? (isPerson(requested_by) ? requested_by : SYSTEM);
}

/** Time of the last change that callers can see. */
export function lastChangeOf(action: Action): Date {
  const { requested_at, approved_at, rejected_at, executed_at } = action;
  const times = [requested_at, approved_at, rejected_at, executed_at].map(
    (at) => at?.getTime() ?? 0,
  );
  return new Date(Math.max(...times));
}

/** All who asked for the action. Under the rule of four eyes none of them approves it, or rolls it back alone. */
export function askersOf({ requested_by, on_behalf_of, authors = [] }: Action): readonly string[] {
  return [requested_by, ...(on_behalf_of === undefined ? [] : [on_behalf_of]), ...authors];
}

const MINUTE = 60_000;

/** Adds the time at which the approval expires, if the action waits for one. */
export function withExpiry(action: Action, ttlMinutes: number): Action {
  if (action.status !== 'pending_approval' || ttlMinutes === 0) return action;
  return { ...action, expires_at: new Date(action.requested_at.getTime() + ttlMinutes * MINUTE) };
}

export function hasEnded({ status }: Pick<Action, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'rejected';
}

const PREFIX = 'act-';

const PATTERN = '^act-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const ACTION_ID_EXAMPLE = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

/** Id of an action in the form that answers show. */
export const ActionId = (options: FieldOptions = {}) =>
  Text({
    example: ACTION_ID_EXAMPLE,
    ...options,
    contract: { title: 'ActionId', pattern: PATTERN },
  });

export function shownActionId(id: string): string {
  return `${PREFIX}${id}`;
}

/** Throws NotFoundError for a malformed id. */
export function actionIdOf(shown: string): string {
  const id = shown.startsWith(PREFIX) ? shown.slice(PREFIX.length) : '';
  if (!isUuid(id)) throw new NotFoundError('Action');
  return id.toLowerCase();
}
