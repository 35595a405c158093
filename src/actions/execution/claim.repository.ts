import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action, ActionResult } from '../action.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from '../records/action-rows.js';

/** Which run of an action: a later claim has a higher fence, and what an earlier one says does not count any more. */
export interface Fenced {
  readonly id: string;
  readonly fence: number;
}

export interface NewClaim {
  readonly connectorId: string;
  readonly leaseMs: number;
}

const RETURNING = `returning ${ACTION_COLUMNS}`;
const LEASE = (parameter: string) =>
  `lease_until = now() + ${parameter} * interval '1 millisecond'`;
const OURS = `actions.id = $1 and actions.fence = $2 and actions.status = 'pending'`;

const CLAIM: Statement = {
  name: 'actions_claim',
  text: `
    update actions set phase = 'claimed', fence = actions.fence + 1, connector_id = $3, ${LEASE('$4')}
     where ${OURS} and actions.phase is null ${RETURNING}`,
};

/** Of the runs that are named by $1 and $2 those that have lapsed. What somebody else is changing is somebody else's. */
const LAPSED_OF = (phase: string) => `
  select actions.id from actions
    join unnest($1::uuid[], $2::integer[]) as seen (id, fence) on actions.id = seen.id and actions.fence = seen.fence
   where actions.status = 'pending' and actions.phase ${phase} and actions.lease_until < now()
     for update of actions skip locked`;

/** What runs left behind that did not renew their lease. */
const TAKE_OVER: Statement = {
  name: 'actions_take_over',
  text: `
    update actions set fence = actions.fence + 1, ${LEASE('$3')}
     where actions.id in (${LAPSED_OF('is not null')}) ${RETURNING}`,
};

/**
 * What a dead run was to do may be done again: it waits as if nobody had begun, in its old order. The fence stays, and
 * rises with the next claim; until then there is no claim under which the dead run, should it wake up, could send.
 */
const REQUEUE: Statement = {
  name: 'actions_requeue',
  text: `update actions set phase = null where actions.id in (${LAPSED_OF(`= 'claimed'`)}) returning 1`,
};

/** The lease is left alone: the claim has just set it, or a beat of the keeper. So no index has to be written. */
const SENDING: Statement = {
  name: 'actions_sending',
  text: `update actions set sent = true where ${OURS} and actions.phase = 'claimed' returning 1`,
};

const RENEW: Statement = {
  name: 'actions_renew',
  text: `update actions set ${LEASE('$3')} where ${OURS} and actions.phase is not null returning 1`,
};

const ACCEPTED: Statement = {
  name: 'actions_accepted',
  text: `
    update actions set phase = 'accepted', handle = $4, accepted_at = coalesce(accepted_at, now()), ${LEASE('$3')}
     where ${OURS} and actions.phase is not null ${RETURNING}`,
};

/** Who cannot be begun lets others go before. */
const DEFER: Statement = {
  name: 'actions_defer',
  text: `update actions set ${LEASE('$3')} where ${OURS} and actions.phase is null returning 1`,
};

/** For whoever comes first to go on with it. */
const RELEASE: Statement = {
  name: 'actions_release',
  text: `
    update actions set phase = case when phase = 'accepted' then phase end, sent = $4, ${LEASE('$3')}
     where ${OURS} and actions.phase is not null ${RETURNING}`,
};

const FINISH: Statement = {
  name: 'actions_finish',
  text: `
    update actions set status = $3, result = $4, executed_at = $5, executed_by = $6, phase = null, lease_until = null
     where ${OURS} ${RETURNING}`,
};

/** Every write of a run; each is conditional on the run's fence, and undefined or false when the run does not count. */
@Injectable()
export class ClaimRepository {
  constructor(private readonly statements: Statements) {}

  async claim(
    tx: Tx,
    { id, fence }: Fenced,
    { connectorId, leaseMs }: NewClaim,
  ): Promise<Action | undefined> {
    return await this.one(tx, CLAIM, [id, fence, connectorId, leaseMs]);
  }

  async takeOver(runs: readonly Fenced[], leaseMs: number): Promise<Action[]> {
    const values = [...named(runs), leaseMs];
    return (await this.statements.rows<ActionRow>(TAKE_OVER, values)).map(actionOf);
  }

  async requeue(runs: readonly Fenced[]): Promise<number> {
    return (await this.statements.rows(REQUEUE, named(runs))).length;
  }

  async defer({ id, fence }: Fenced, leaseMs: number): Promise<void> {
    await this.statements.rows(DEFER, [id, fence, leaseMs]);
  }

  async noteSending({ id, fence }: Fenced): Promise<boolean> {
    return (await this.statements.rows(SENDING, [id, fence])).length === 1;
  }

  async renew({ id, fence }: Fenced, leaseMs: number): Promise<boolean> {
    return (await this.statements.rows(RENEW, [id, fence, leaseMs])).length === 1;
  }

  async renewIn(tx: Tx, { id, fence }: Fenced, leaseMs: number): Promise<boolean> {
    return (await this.statements.rowsIn(tx, RENEW, [id, fence, leaseMs])).length === 1;
  }

  async vendorAccepted(
    { id, fence }: Fenced,
    handle: Readonly<Record<string, unknown>>,
    leaseMs: number,
  ): Promise<Action | undefined> {
    const values = [id, fence, leaseMs, JSON.stringify(handle)];
    const [row] = await this.statements.rows<ActionRow>(ACCEPTED, values);
    return row && actionOf(row);
  }

  async release(
    { id, fence }: Fenced,
    { sent, afterMs }: { sent: boolean; afterMs: number },
  ): Promise<Action | undefined> {
    const [row] = await this.statements.rows<ActionRow>(RELEASE, [id, fence, afterMs, sent]);
    return row && actionOf(row);
  }

  async finish(
    tx: Tx,
    { id, fence }: Fenced,
    { result, at, by }: { result: ActionResult; at: Date; by: string },
  ): Promise<Action | undefined> {
    const status = result.success ? 'completed' : 'failed';
    const values = [id, fence, status, JSON.stringify(result), at.toISOString(), by];
    return await this.one(tx, FINISH, values);
  }

  private async one(tx: Tx, statement: Statement, values: unknown[]): Promise<Action | undefined> {
    const [row] = await this.statements.rowsIn<ActionRow>(tx, statement, values);
    return row && actionOf(row);
  }
}

function named(runs: readonly Fenced[]): unknown[] {
  return [runs.map(({ id }) => id), runs.map(({ fence }) => fence)];
}
