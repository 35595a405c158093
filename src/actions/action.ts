import { PickType } from '@nestjs/swagger';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACTION_TYPES, type ActionTypeName } from '../action-catalogue/action-types.js';
import { bareMessageId } from '../action-catalogue/parameters.js';
import { IncidentEntity, type LockedIncident } from '../incidents/incident.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  OpenChoice,
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

export class ActionResult {
  @Flag()
  readonly success: boolean;

  @Text({ description: 'Result in words.' })
  readonly message: string;

  @Choice('ActionFailureCode', FAILURE_CODES, {
    optional: true,
    description: `Reason of the failure, for programs. ${CODES}`,
  })
  readonly code?: FailureCode;

  @Flag({
    optional: true,
    description: 'True if the sandbox connector simulated the action, without an external effect.',
  })
  readonly simulated?: true;

  @JsonObject({
    optional: true,
    description: 'Result of a look-up, or further details from the vendor.',
  })
  readonly data?: Readonly<Record<string, unknown>>;
}

export class ActionPreview {
  @WholeNumber({
    min: 0,
    optional: true,
    description:
      'Number of mails that the action would change. Absent if the connector could not find out.',
  })
  readonly count?: number;

  @Text({
    description: 'Effect that the action would have, or the reason why the effect is not known.',
  })
  readonly message: string;
}

export type Parameters = Readonly<Record<string, unknown>>;

class ActionIncident extends PickType(IncidentEntity, [
  'incident_number',
  'incident_type',
  'title',
  'severity',
  'status',
]) {}

type Mail = Pick<LockedIncident, 'message_id' | 'sender'>;

const PREFIX = 'act-';

export const ActionId = (options: FieldOptions = {}) => {
  const pattern = `^${PREFIX}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`;
  const example = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
  return Text({ example, ...options, contract: { title: 'ActionId', pattern } });
};

/**
 * Row of an action, with the contract of the fields that responses show. Columns without a value are absent, not null.
 * Fields without a column are computed when the row is read.
 */
@Entity('actions')
export class ActionEntity {
  @ActionId()
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Id('IncidentId', { optional: true, description: 'Absent for direct execution.' })
  @Column({ type: 'uuid', nullable: true })
  readonly incident_id?: string;

  @Nested(() => ActionIncident, {
    optional: true,
    description: 'Absent for direct execution, and when the incident was deleted.',
  })
  readonly incident?: ActionIncident & Mail;

  @OpenChoice('ActionTypeName', ACTION_TYPES)
  @Column({ type: 'text', collation: 'C' })
  readonly action_type: ActionTypeName;

  @Choice('ActionStatus', ACTION_STATUSES)
  @Column({ type: 'text', collation: 'C' })
  readonly status: ActionStatus;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Level that has, or had, to approve the action. The level is judged when the action is requested, and again when it is approved.',
  })
  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly approval_level?: RequiredLevel;

  @JsonObject()
  @Column({ type: 'json' })
  readonly parameters: Parameters;

  @Text()
  @Column({ type: 'text' })
  readonly requested_by: string;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3 })
  readonly requested_at: Date;

  /** Written by a trigger. */
  @Instant({
    description: 'Latest of the times at which the action was requested, decided on or executed.',
  })
  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  readonly updated_at: Date;

  /** The run may be deleted by now. */
  @Id('PlaybookRunId', { optional: true, description: 'Playbook run that requested the action.' })
  @Column({ type: 'uuid', nullable: true })
  readonly playbook_run_id?: string;

  /** With APPROVAL_FOUR_EYES, this principal counts as a requester of the action. */
  @Text({
    optional: true,
    description:
      'Principal who started the playbook run. For an automatic run: the person or key that gave the verdict or requested the triage.',
  })
  @Column({ type: 'text', nullable: true })
  readonly on_behalf_of?: string;

  /** People who wrote, automated or trusted the playbook version. Only for a step of an automatic run. */
  @Column({ type: 'json', nullable: true })
  readonly authors?: readonly string[];

  @Instant({
    optional: true,
    description: 'While the action waits for approval: last time at which it can be approved.',
  })
  readonly expires_at?: Date;

  @Nested(() => ActionPreview, {
    optional: true,
    description:
      'What the action would change outside, looked up once when it began to wait for approval. Present for `quarantine_email` and `delete_email` at Microsoft Graph, a moment after the request.',
  })
  @Column({ type: 'json', nullable: true })
  readonly preview?: ActionPreview;

  /** Reason of a rollback. */
  @Column({ type: 'text', nullable: true })
  readonly reason?: string;

  @Column({ type: 'timestamptz', nullable: true })
  readonly reminded_at?: Date;

  @Text({
    optional: true,
    description:
      'Principal who approved the action or, without approval, requested it. `system` if no person did.',
  })
  @Column({ type: 'text', nullable: true })
  readonly executed_by?: string;

  @Instant({ optional: true, description: 'End of the execution.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly executed_at?: Date;

  @Text({ optional: true })
  @Column({ type: 'text', nullable: true })
  readonly approved_by?: string;

  @Instant({ optional: true })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly approved_at?: Date;

  @Text({ optional: true, description: 'Comment of the approver.' })
  @Column({ type: 'text', nullable: true })
  readonly comment?: string;

  @Text({ optional: true, description: '`system` if nobody decided in time.' })
  @Column({ type: 'text', nullable: true })
  readonly rejected_by?: string;

  @Instant({ optional: true })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly rejected_at?: Date;

  @Text({ optional: true })
  @Column({ type: 'text', nullable: true })
  readonly rejection_reason?: string;

  /** `expired` if nobody decided in time. Absent for other rejections. */
  @Column({ type: 'text', nullable: true })
  readonly rejection_code?: 'expired';

  @Nested(() => ActionResult, {
    optional: true,
    description: 'Present after the action has ended.',
  })
  @Column({ type: 'json', nullable: true })
  readonly result?: ActionResult;

  @Column({ type: 'text', nullable: true })
  readonly connector_id?: string;

  @ActionId({ optional: true, description: 'For a rollback: the action that it rolls back.' })
  @Column({ type: 'uuid', nullable: true })
  readonly rollback_of?: string;

  @ActionId({ optional: true, description: 'The rollback of this action.' })
  readonly rolled_back_by?: string;

  @Column({ type: 'bytea', nullable: true })
  readonly target_hash?: Buffer;
}

export type Action = Omit<ActionEntity, 'target_hash'>;

/** Returns the sender to which the action is bound. An attacker can send a mail with the Message-ID of another mail. */
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

/** Returns everyone who, with APPROVAL_FOUR_EYES, may neither approve the action nor roll it back alone. */
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

/** Returns the HTTP status of a response: 200 if the action has ended (even if it failed), otherwise 202. */
export const responseStatusOf = (action: Action): number => (hasEnded(action) ? 200 : 202);

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
