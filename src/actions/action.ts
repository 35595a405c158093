import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { bareMessageId } from '../action-catalogue/parameters.js';
import type { LockedIncident } from '../incidents/incident.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  JsonObject,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';

export const ACTION_STATUSES = [
  'pending',
  'pending_approval',
  'completed',
  'failed',
  'rejected',
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

const CHANGES = ['requested', 'approved', 'rejected', 'completed', 'failed'] as const;
export type ActionChange = (typeof CHANGES)[number];
export const ACTION_FEED_EVENTS = CHANGES.map((change) => `action.${change}` as const);

export const REQUIRED_LEVELS = ['analyst', 'senior', 'manager'] as const;
export type RequiredLevel = (typeof REQUIRED_LEVELS)[number];

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
  @Flag()
  readonly success: boolean;

  @Text({ description: 'Result in words.' })
  readonly message: string;

  @Choice('ActionFailureCode', FAILURE_CODES, {
    optional: true,
    description: `Why it failed, for programs. ${CODES}`,
  })
  readonly code?: FailureCode;

  @Flag({
    optional: true,
    description: 'Nothing happened outside: the sandbox connector answered.',
  })
  readonly simulated?: true;

  @JsonObject({
    optional: true,
    description: 'What a look-up found, or further details from the vendor.',
  })
  readonly data?: Readonly<Record<string, unknown>>;
}

export type ActionResult = ActionResultDto;

/** Effect of the action at the vendor, looked up when the action began to wait for approval. */
export class ActionPreviewDto {
  @WholeNumber({
    min: 0,
    optional: true,
    description:
      'Number of mails that the action would change. Absent if the connector could not find out.',
  })
  readonly count?: number;

  @Text({ description: 'What the action would change, or why this is not known.' })
  readonly message: string;
}

export type ActionPreview = ActionPreviewDto;

export type Parameters = Readonly<Record<string, unknown>>;

/** Incident fields that responses show with an action, and the mail, which they do not show. */
export type ActionIncident = Omit<LockedIncident, 'id'>;
type Mail = Pick<LockedIncident, 'message_id' | 'sender'>;

/** Row of an action, and the source of the type Action. Columns without a value are absent, not null. */
@Entity('actions')
export class ActionEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'uuid', nullable: true })
  readonly incident_id?: string;

  @Column({ type: 'text', collation: 'C' })
  readonly action_type: ActionTypeName;

  @Column({ type: 'json' })
  readonly parameters: Parameters;

  @Column({ type: 'text', collation: 'C' })
  readonly status: ActionStatus;

  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly approval_level?: RequiredLevel;

  @Column({ type: 'text' })
  readonly requested_by: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly requested_at: Date;

  /** Playbook run that requested the action. The run may be deleted by now. */
  @Column({ type: 'uuid', nullable: true })
  readonly playbook_run_id?: string;

  /** Principal who started that run. Absent for an automatic run. The principal counts as a requester of the actions. */
  @Column({ type: 'text', nullable: true })
  readonly on_behalf_of?: string;

  /** For a step of an automatic run: people who wrote the playbook version, made it automatic or trusted the verdict. */
  @Column({ type: 'json', nullable: true })
  readonly authors?: readonly string[];

  @Column({ type: 'json', nullable: true })
  readonly preview?: ActionPreview;

  @Column({ type: 'uuid', nullable: true })
  readonly rollback_of?: string;

  @Column({ type: 'text', nullable: true })
  readonly reason?: string;

  /** Time of the last reminder that the approval expires soon. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly reminded_at?: Date;

  @Column({ type: 'text', nullable: true })
  readonly approved_by?: string;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly approved_at?: Date;

  @Column({ type: 'text', nullable: true })
  readonly comment?: string;

  @Column({ type: 'text', nullable: true })
  readonly rejected_by?: string;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly rejected_at?: Date;

  @Column({ type: 'text', nullable: true })
  readonly rejection_reason?: string;

  /** `expired` if nobody decided in time. Absent for other rejections. */
  @Column({ type: 'text', nullable: true })
  readonly rejection_code?: 'expired';

  @Column({ type: 'text', nullable: true })
  readonly executed_by?: string;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly executed_at?: Date;

  /** Latest time of the request, the decision and the execution. Written by a trigger. */
  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  readonly updated_at: Date;

  @Column({ type: 'json', nullable: true })
  readonly result?: ActionResult;

  @Column({ type: 'text', nullable: true })
  readonly connector_id?: string;

  @Column({ type: 'bytea', nullable: true })
  readonly target_hash?: Buffer;
}

export type Action = Omit<ActionEntity, 'target_hash'> & {
  /** Absent for actions without an incident, and if the incident was deleted. */
  readonly incident?: ActionIncident;
  readonly rolled_back_by?: string;
  /** Time from which the action can no longer be approved. */
  readonly expires_at?: Date;
};

/**
 * Returns the sender of the incident's mail if the action names that mail. The action is bound to this sender, because an
 * attacker can choose a Message-ID that another mail has. Mail services ignore the case of ids.
 */
export function reportedSender(action: {
  readonly parameters: Parameters;
  readonly incident?: Mail | undefined;
}): string | undefined {
  const named = action.parameters['message_id'];
  const { message_id, sender } = action.incident ?? {};
  if (typeof named !== 'string' || !message_id || !sender?.trim()) return undefined;
  const [id, reported] = [named, message_id].map((text) => bareMessageId(text).toLowerCase());
  return id === reported ? sender : undefined;
}

/** Actor of automatic changes, such as the expiry of an approval. */
export const SYSTEM = 'system';

/** True for a user or an API key. False for a playbook, a webhook source or the service. */
export function isPerson(principal: string): boolean {
  return !/^(playbook:|webhook:|system$)/.test(principal);
}

export function executedBy(action: Pick<Action, 'approved_by' | 'requested_by'>): string {
  return action.approved_by ?? (isPerson(action.requested_by) ? action.requested_by : SYSTEM);
}

export function invalidState(message: string, details?: Parameters): AppError {
  return new AppError('invalid_state', message, { details });
}

/** Returns all requesters of the action. With APPROVAL_FOUR_EYES none of them may approve it or roll it back alone. */
export function askersOf({ requested_by, on_behalf_of, authors = [] }: Action): readonly string[] {
  return [requested_by, ...(on_behalf_of === undefined ? [] : [on_behalf_of]), ...authors];
}

export function withExpiry<A extends Action>(action: A, ttlMinutes: number): A {
  if (action.status !== 'pending_approval' || ttlMinutes === 0) return action;
  return { ...action, expires_at: new Date(action.requested_at.getTime() + ttlMinutes * 60_000) };
}

export function hasEnded({ status }: Pick<Action, 'status'>): boolean {
  return status !== 'pending' && status !== 'pending_approval';
}

/** HTTP status of a response with an action. A failed action has ended: a failure is a normal outcome. */
export const responseStatusOf = (action: Action): number => (hasEnded(action) ? 200 : 202);

const PREFIX = 'act-';

export const ActionId = (options: FieldOptions = {}) => {
  const pattern = `^${PREFIX}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`;
  const example = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
  return Text({ example, ...options, contract: { title: 'ActionId', pattern } });
};

export function shownActionId(id: string): string {
  return `${PREFIX}${id}`;
}

export function withShownIds(action: Action): Action {
  const { id, rollback_of, rolled_back_by } = action;
  return {
    ...action,
    id: shownActionId(id),
    rollback_of: rollback_of && shownActionId(rollback_of),
    rolled_back_by: rolled_back_by && shownActionId(rolled_back_by),
  };
}

export function actionIdOf(shown: string): string {
  const id = shown.startsWith(PREFIX) ? shown.slice(PREFIX.length) : '';
  if (!isUuid(id)) throw new NotFoundError('Action');
  return id.toLowerCase();
}
