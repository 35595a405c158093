import { Injectable } from '@nestjs/common';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action, ActionResult, ActionStatus, RequiredLevel } from '../action.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from './action-rows.js';
import type { NewClaim } from '../execution/claim.repository.js';

export interface NewAction extends Pick<
  Action,
  'id' | 'incidentId' | 'type' | 'parameters' | 'requestedBy' | 'requestedAt' | 'rollbackOf'
> {
  readonly status: ActionStatus;
  readonly approvalLevel?: RequiredLevel;
  readonly reason?: string;
  readonly result?: ActionResult;
  /** How long whoever requested it has to begin it. */
  readonly graceMs: number;
  /** Where it has begun with this: see ClaimRepository. */
  readonly claim?: NewClaim;
}

const RETURNING = `returning ${ACTION_COLUMNS}`;

const INSERT: Statement = {
  name: 'actions_insert',
  text: `
    insert into actions (id, incident_id, action_type, parameters, status, approval_level, requested_by, requested_at,
                         rollback_of, reason, result, lease_until, connector_id, phase, fence)
    values ($1, $2, $3, $4, $5::text, $6, $7, $8, $9, $10, $11,
            case when $5::text = 'pending' then now() + $12 * interval '1 millisecond' end,
            $13::text, case when $13::text is not null then 'claimed' end,
            case when $13::text is not null then 1 else 0 end)
    ${RETURNING}`,
};

/** By the clock of the database, whatever a replica takes for the time, and as it is when the row is had. */
function isLate(ttlMinutes: string): string {
  return `actions.requested_at + ${ttlMinutes}::integer * interval '1 minute' <= clock_timestamp()`;
}

const APPROVE: Statement = {
  name: 'actions_approve',
  text: `
    update actions set status = 'pending', approved_by = $2, approved_at = $3, approval_comment = $4,
                       lease_until = now() + $5 * interval '1 millisecond', approval_level = $6
     where actions.id = $1 and actions.status = 'pending_approval'
       and ($7::integer = 0 or not ${isLate('$7')}) ${RETURNING}`,
};

const REJECTED = `status = 'rejected', rejected_by = $1, rejected_at = $2, rejection_reason = $3, lease_until = null`;

const REJECT: Statement = {
  name: 'actions_reject',
  text: `
    update actions set ${REJECTED}
     where actions.id = $4 and actions.status = 'pending_approval' ${RETURNING}`,
};

const REJECT_UNCLAIMED: Statement = {
  name: 'actions_reject_unclaimed',
  text: `
    update actions set ${REJECTED}
     where actions.id = $4 and actions.status = 'pending' and actions.phase is null and not actions.sent ${RETURNING}`,
};

/** What is sent already cannot be called back; everything else of the incident ends here. */
const REJECT_OF_INCIDENT: Statement = {
  name: 'actions_reject_of_incident',
  text: `
    update actions set ${REJECTED}
     where actions.incident_id = $4 and not actions.sent and actions.phase is null
       and actions.status in ('pending', 'pending_approval') ${RETURNING}`,
};

const REJECT_EXPIRED: Statement = {
  name: 'actions_reject_expired',
  text: `
    update actions set ${REJECTED}
     where actions.id in (
       select id from actions
        where status = 'pending_approval' and ${isLate('$4')}
        order by id limit $5 for update skip locked) ${RETURNING}`,
};

const DISCARD_HELD: Statement = {
  name: 'actions_discard_held',
  text: `
    update actions set ${REJECTED}
     where actions.status = 'pending' and actions.phase is null and not actions.sent ${RETURNING}`,
};

const DISCARD_SENT: Statement = {
  name: 'actions_discard_sent',
  text: `
    update actions set status = 'failed', lease_until = null, executed_at = $2, executed_by = 'system', result = $1
     where actions.status = 'pending' and actions.phase is null and actions.sent ${RETURNING}`,
};

export interface Approval {
  readonly by: string;
  readonly at: Date;
  /** What it had to be approved at in the end: never below what it was requested at. */
  readonly level: ApprovalLevel;
  readonly comment?: string;
  /** How long whoever approved it has to begin it. */
  readonly graceMs: number;
  /** How long it may have waited; 0 for any time. */
  readonly ttlMinutes: number;
}

export interface Rejection {
  readonly by: string;
  readonly at: Date;
  readonly reason: string;
}

/** Every move of a status outside the execution (see execution/claim.repository.ts); each leaves the status it names. */
@Injectable()
export class ActionsRepository {
  constructor(private readonly statements: Statements) {}

  async insert(tx: Tx, action: NewAction): Promise<Action> {
    const [inserted] = await this.write(tx, INSERT, [
      action.id,
      action.incidentId,
      action.type,
      JSON.stringify(action.parameters),
      action.status,
      action.approvalLevel,
      action.requestedBy,
      action.requestedAt.toISOString(),
      action.rollbackOf,
      action.reason,
      action.result && JSON.stringify(action.result),
      action.claim?.leaseMs ?? action.graceMs,
      action.claim?.connectorId,
    ]);
    return inserted!;
  }

  /** Undefined when it did not wait for approval any more, or had waited too long. */
  async approve(tx: Tx, id: string, approval: Approval): Promise<Action | undefined> {
    const { by, at, level, comment, graceMs, ttlMinutes } = approval;
    const values = [id, by, at.toISOString(), comment, graceMs, level, ttlMinutes];
    return (await this.write(tx, APPROVE, values))[0];
  }

  /** Undefined when it did not wait for approval any more. */
  async reject(tx: Tx, id: string, rejection: Rejection): Promise<Action | undefined> {
    return (await this.write(tx, REJECT, [...valuesOf(rejection), id]))[0];
  }

  /** Of an action that was accepted and not begun. */
  async rejectUnclaimed(tx: Tx, id: string, rejection: Rejection): Promise<Action | undefined> {
    return (await this.write(tx, REJECT_UNCLAIMED, [...valuesOf(rejection), id]))[0];
  }

  async rejectOfIncident(tx: Tx, incidentId: string, rejection: Rejection): Promise<Action[]> {
    return await this.write(tx, REJECT_OF_INCIDENT, [...valuesOf(rejection), incidentId]);
  }

  async rejectExpired(
    tx: Tx,
    ttlMinutes: number,
    rejection: Rejection,
    limit: number,
  ): Promise<Action[]> {
    return await this.write(tx, REJECT_EXPIRED, [...valuesOf(rejection), ttlMinutes, limit]);
  }

  async discardHeld(tx: Tx, rejection: Rejection): Promise<Action[]> {
    return await this.write(tx, DISCARD_HELD, valuesOf(rejection));
  }

  /** What waited to be repeated may have happened: it cannot be called rejected. */
  async discardSent(tx: Tx, result: ActionResult, at: Date): Promise<Action[]> {
    return await this.write(tx, DISCARD_SENT, [JSON.stringify(result), at.toISOString()]);
  }

  private async write(tx: Tx, statement: Statement, values: unknown[]): Promise<Action[]> {
    return (await this.statements.rowsIn<ActionRow>(tx, statement, values)).map(actionOf);
  }
}

function valuesOf({ by, at, reason }: Rejection): unknown[] {
  return [by, at.toISOString(), reason];
}
