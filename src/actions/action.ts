import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { IncidentSummary } from '../incidents/incident.js';

export const ACTION_STATUSES = [
  'pending',
  'pending_approval',
  'completed',
  'failed',
  'rejected',
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** The levels at which an action may have to be approved. */
export const REQUIRED_LEVELS = ['analyst', 'senior', 'manager'] as const;
export type RequiredLevel = (typeof REQUIRED_LEVELS)[number];

/** Why an action failed, for programs. */
export const FAILURE_CODES = [
  'refused',
  'unreachable',
  'timeout',
  'no_connector',
  'outcome_unknown',
  'interrupted',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

export interface ActionResult {
  readonly success: boolean;
  readonly message: string;
  readonly code?: FailureCode;
  /** Nothing happened outside: a sandbox answered. */
  readonly simulated?: true;
  /** What a look-up found, or what the vendor said. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Of a run. `claimed`: a call may be on its way. `accepted`: the vendor has accepted it and is doing it. */
export type Phase = 'claimed' | 'accepted';

export type Parameters = Readonly<Record<string, unknown>>;

/** What is shown of an action's incident wherever the action is shown. */
export type ActionIncident = Pick<
  IncidentSummary,
  'incidentNumber' | 'incidentType' | 'title' | 'severity' | 'status'
> & {
  /** The mail that it is about, by its well-known fields. Not shown with the action. */
  readonly mail?: { readonly messageId: string; readonly sender: string };
};

export interface Action {
  /** A UUID; outside it is shown as `act-<uuid>`. */
  readonly id: string;
  readonly incidentId?: string;
  /** Absent for direct actions, and when it was deleted. */
  readonly incident?: ActionIncident;
  readonly type: ActionTypeName;
  readonly parameters: Parameters;
  readonly status: ActionStatus;
  readonly approvalLevel?: RequiredLevel;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  /** The playbook run that it is a step of. */
  readonly playbookRunId?: string;
  /** The principal who started that run; absent where it started by itself. Whoever asks for a run asks for its actions. */
  readonly onBehalfOf?: string;
  /** Of a rollback: what it rolls back, and why. */
  readonly rollbackOf?: string;
  readonly reason?: string;
  readonly rolledBackBy?: string;
  /** While it waits for approval: an approval comes too late from then on. */
  readonly expiresAt?: Date;
  /** When its approvers were last told that it expires soon. */
  readonly remindedAt?: Date;
  readonly approvedBy?: string;
  readonly approvedAt?: Date;
  readonly comment?: string;
  readonly rejectedBy?: string;
  readonly rejectedAt?: Date;
  readonly rejectionReason?: string;
  readonly executedBy?: string;
  readonly executedAt?: Date;
  readonly result?: ActionResult;
  readonly phase?: Phase;
  /** Bytes of a call may have left, in this attempt or an earlier one. */
  readonly sent: boolean;
  /** The number of the latest claim: what an earlier run writes does not count. */
  readonly fence: number;
  readonly connectorId?: string;
  /** What the vendor gave to ask how far it is. */
  readonly handle?: Readonly<Record<string, unknown>>;
  /** When the vendor accepted it. */
  readonly acceptedAt?: Date;
}

/** Who is named where no person acts: a deletion, a discard, an approval that came too late. */
export const SYSTEM = 'system';

const NOBODY = /^(playbook:|webhook:|system$)/;

/** Whether the principal is a user or a key, behind which there is somebody who wanted what was done. */
export function isPerson(principal: string): boolean {
  return !NOBODY.test(principal);
}

const MINUTE = 60_000;

/** Adds until when the action waits for approval, if it does. */
export function withExpiry(action: Action, ttlMinutes: number): Action {
  if (action.status !== 'pending_approval' || ttlMinutes === 0) return action;
  return { ...action, expiresAt: new Date(action.requestedAt.getTime() + ttlMinutes * MINUTE) };
}

/** How the reason begins for which the system rejects an action that nobody decided on in time. */
export const UNDECIDED = 'Nobody decided on it within';

export function hasExpired({
  rejectedBy,
  rejectionReason,
}: Pick<Action, 'rejectedBy' | 'rejectionReason'>): boolean {
  return rejectedBy === SYSTEM && rejectionReason?.startsWith(UNDECIDED) === true;
}

export function hasEnded({ status }: Pick<Action, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'rejected';
}
