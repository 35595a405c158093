// SQL for the writes: most run for every action, two change many runs, and all share one condition.
import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type FindOptionsWhere,
  In,
  IsNull,
  Not,
  Raw,
  type SelectQueryBuilder,
} from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { type Action, ActionEntity } from '../action.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from '../action-rows.js';

/** Identifies one run of an action. Each claim increments the fence, so writes of earlier runs have no effect. */
export interface Fenced {
  readonly id: string;
  readonly fence: number;
}

/** Actions that a search leaves out. */
export interface Except {
  readonly ids: readonly string[];
  /** Does not exclude rollbacks, which use the connector of the original action. */
  readonly types: readonly ActionTypeName[];
}

/** Connectors without a free place for questions. Their actions wait, but not longer than the times here. */
export interface BusyConnectors {
  /** Their accepted operations wait. */
  readonly polled: readonly string[];
  /** Their calls without a known outcome wait, because a probe can find the outcome. */
  readonly probed: readonly string[];
  /** Maximum duration of an accepted operation, and maximum wait of a lapsed claim for its question. */
  readonly acceptedForMs: number;
  readonly lapsedForMs: number;
}

const RETURNING = `returning ${ACTION_COLUMNS}`;
const LEASE = (parameter: string) =>
  `lease_until = now() + ${parameter} * interval '1 millisecond'`;
const OURS = `actions.id = $1 and actions.fence = $2 and actions.status = 'pending'`;
/** Batch form: the condition for all runs in `run`. */
export const OF_RUN = `actions.id = run.id and actions.fence = run.fence and actions.status = 'pending'`;

const CLAIM: Statement = {
  name: 'actions_claim',
  text: `
    update actions set phase = 'claimed', fence = actions.fence + 1, connector_id = $3, ${LEASE('$4')}
     where ${OURS} and actions.phase is null ${RETURNING}`,
};

/** Lapsed runs among $1 (ids) and $2 (fences), without rows that another replica has locked. */
const LAPSED_OF = (phase: string) => `
  select actions.id from actions
    join unnest($1::uuid[], $2::integer[]) as seen (id, fence) on actions.id = seen.id and actions.fence = seen.fence
   where actions.status = 'pending' and actions.phase ${phase} and actions.lease_until < now()
     for update of actions skip locked`;

const TAKE_OVER: Statement = {
  name: 'actions_take_over',
  text: `
    update actions set fence = actions.fence + 1, ${LEASE('$3')}
     where actions.id in (${LAPSED_OF('is not null')}) ${RETURNING}`,
};

/**
 * Makes an action that may be repeated wait again at its old place in the order. The next claim increments the fence. Until
 * then there is no claim, so a stopped run that continues cannot send.
 */
const REQUEUE: Statement = {
  name: 'actions_requeue',
  text: `update actions set phase = null where actions.id in (${LAPSED_OF(`= 'claimed'`)}) returning 1`,
};

/** Keeps the lease, which the claim or the LeaseKeeper has just set, so that no index is written. */
const SENDING: Statement = {
  name: 'actions_sending',
  text: `
    update actions set sent = true from unnest($1::uuid[], $2::integer[]) as run (id, fence)
     where ${OF_RUN} and actions.phase = 'claimed' returning actions.id, actions.fence`,
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

/** `coalesce`: a comparison with null does not count as waiting. */
const WAITS_FOR_BUSY = `coalesce(case actions.phase
  when 'accepted' then actions.connector_id = any(:polled)
                       and actions.accepted_at > now() - :acceptedForMs * interval '1 millisecond'
  else actions.sent and actions.connector_id = any(:probed)
       and actions.lease_until > now() - :lapsedForMs * interval '1 millisecond' end, false)`;

type Search = SelectQueryBuilder<ActionEntity>;

/** Moves an action that could not begin behind other actions. */
const DEFER: Statement = {
  name: 'actions_defer',
  text: `update actions set ${LEASE('$3')} where ${OURS} and actions.phase is null returning 1`,
};

/** Lets any replica continue after the lease. Keeps `accepted`, so that the vendor is not called again. */
const RELEASE: Statement = {
  name: 'actions_release',
  text: `
    update actions set phase = case when phase = 'accepted' then phase end, sent = $4, ${LEASE('$3')}
     where ${OURS} and actions.phase is not null ${RETURNING}`,
};

/** Writes of runs and searches of recovery. A write returns `undefined` or `false` if its run has lost the claim. */
@Injectable()
export class ClaimRepository {
  /** Combines simultaneous writes of several runs into one statement. */
  private readonly notes = new Batcher<Fenced, boolean>((runs) => this.noteAll(runs));

  constructor(
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
  ) {}

  /**
   * Finds claims with an expired lease and accepted operations that are due, the earliest first. Omits actions that may still
   * wait for a busy connector, so that they do not fill the limit.
   */
  async lapsed(limit: number, busy: BusyConnectors): Promise<Action[]> {
    return await this.withoutLease(limit, { phase: Not(IsNull()) }, (search) =>
      busy.polled.length > 0 ? search.andWhere(`not (${WAITS_FOR_BUSY})`, { ...busy }) : search,
    );
  }

  /** Finds actions that may begin and were not claimed in time, the oldest first. */
  async unclaimed(limit: number, { ids, types }: Except): Promise<Action[]> {
    return await this.withoutLease(limit, { phase: IsNull(), id: Not(In(ids)) }, (search) =>
      search.andWhere(
        '(actions.rollback_of is not null or actions.action_type <> all(:types::text[]))',
        { types },
      ),
    );
  }

  async claim(
    tx: Tx,
    { id, fence }: Fenced,
    { connectorId, leaseMs }: { readonly connectorId: string; readonly leaseMs: number },
  ): Promise<Action | undefined> {
    const values = [id, fence, connectorId, leaseMs];
    return actionIn(await this.statements.rowsIn(tx, CLAIM, values));
  }

  async takeOver(runs: readonly Fenced[], leaseMs: number): Promise<Action[]> {
    const values = [...idsAndFences(runs), leaseMs];
    return (await this.statements.rows<ActionRow>(TAKE_OVER, values)).map(actionOf);
  }

  async requeue(runs: readonly Fenced[]): Promise<number> {
    return (await this.statements.rows(REQUEUE, idsAndFences(runs))).length;
  }

  async defer({ id, fence }: Fenced, leaseMs: number): Promise<void> {
    await this.statements.rows(DEFER, [id, fence, leaseMs]);
  }

  /** Commits before it returns. The first byte of the request may leave after that. */
  async noteSending(run: Fenced): Promise<boolean> {
    return await this.notes.submit(run);
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
    restMs: number,
  ): Promise<Action | undefined> {
    const values = [id, fence, restMs, JSON.stringify(handle)];
    return actionIn(await this.statements.rows(ACCEPTED, values));
  }

  async release({ id, fence }: Fenced, sent: boolean): Promise<Action | undefined> {
    return actionIn(await this.statements.rows(RELEASE, [id, fence, 0, sent]));
  }

  private async noteAll(runs: readonly Fenced[]): Promise<boolean[]> {
    const noted = await this.statements.rows<Fenced>(SENDING, idsAndFences(runs));
    // The batch may contain an earlier run of the same action.
    return runs.map(({ id, fence }) => noted.some((run) => run.id === id && run.fence === fence));
  }

  private async withoutLease(
    limit: number,
    where: FindOptionsWhere<ActionEntity>,
    narrowed: (search: Search) => Search = (search) => search,
  ): Promise<Action[]> {
    const hasLapsed = Raw((lease) => `${lease} < now()`);
    const search = this.dataSource
      .getRepository(ActionEntity)
      .createQueryBuilder('actions')
      .select(ACTION_COLUMNS)
      .where({ ...where, status: 'pending', lease_until: hasLapsed });
    const rows = await narrowed(search)
      .orderBy('actions.lease_until')
      .limit(limit)
      .getRawMany<ActionRow>();
    return rows.map(actionOf);
  }
}

function actionIn([row]: ActionRow[]): Action | undefined {
  return row && actionOf(row);
}

function idsAndFences(runs: readonly Fenced[]): unknown[] {
  return [runs.map(({ id }) => id), runs.map(({ fence }) => fence)];
}
