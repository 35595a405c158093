// SQL for the writes: every run pays for most of them, two are about many runs at once, and all share one condition.
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

/** Names one run of an action: a later claim has a higher fence, and what an earlier run writes does not count any more. */
export interface Fenced {
  readonly id: string;
  readonly fence: number;
}

/** Actions that a search leaves out. */
export interface Except {
  readonly ids: readonly string[];
  /** Does not apply to rollbacks, which run at the connector of the original action. */
  readonly types: readonly ActionTypeName[];
}

/** Connectors that are asked as much as they may be at a time. What has to be asked there waits, but not for ever. */
export interface BusyConnectors {
  /** They do what they have accepted, and can tell how far it is. */
  readonly polled: readonly string[];
  /** Those of them that can tell, too, what became of a call of which nobody knows. */
  readonly probed: readonly string[];
  /** How long an operation may take that was accepted, and how long a claim that has lapsed waits for its question. */
  readonly acceptedForMs: number;
  readonly lapsedForMs: number;
}

const RETURNING = `returning ${ACTION_COLUMNS}`;
const LEASE = (parameter: string) =>
  `lease_until = now() + ${parameter} * interval '1 millisecond'`;
const OURS = `actions.id = $1 and actions.fence = $2 and actions.status = 'pending'`;
/** The same for many runs at once, of a list `run`. */
export const OF_RUN = `actions.id = run.id and actions.fence = run.fence and actions.status = 'pending'`;

const CLAIM: Statement = {
  name: 'actions_claim',
  text: `
    update actions set phase = 'claimed', fence = actions.fence + 1, connector_id = $3, ${LEASE('$4')}
     where ${OURS} and actions.phase is null ${RETURNING}`,
};

/** Those runs of $1 (ids) and $2 (fences) that have lapsed. What another replica is just changing is left to it. */
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
 * An action that may be repeated waits again as if nobody had begun it, in its old place of the order. Its fence rises only
 * with the next claim. Until then no claim exists under which the dead run could send, should it wake up after all.
 */
const REQUEUE: Statement = {
  name: 'actions_requeue',
  text: `update actions set phase = null where actions.id in (${LAPSED_OF(`= 'claimed'`)}) returning 1`,
};

/** The lease is left as it is, since the claim or the LeaseKeeper has just set it: so no index has to be written. */
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

/** Nothing compared with null counts as waiting. */
const WAITS_FOR_BUSY = `coalesce(case actions.phase
  when 'accepted' then actions.connector_id = any(:polled)
                       and actions.accepted_at > now() - :acceptedForMs * interval '1 millisecond'
  else actions.sent and actions.connector_id = any(:probed)
       and actions.lease_until > now() - :lapsedForMs * interval '1 millisecond' end, false)`;

type Search = SelectQueryBuilder<ActionEntity>;

/** An action that cannot be begun lets others go before it. */
const DEFER: Statement = {
  name: 'actions_defer',
  text: `update actions set ${LEASE('$3')} where ${OURS} and actions.phase is null returning 1`,
};

/** Any replica may go on with it when the lease is over; `accepted` stays, so that the vendor is not called again. */
const RELEASE: Statement = {
  name: 'actions_release',
  text: `
    update actions set phase = case when phase = 'accepted' then phase end, sent = $4, ${LEASE('$3')}
     where ${OURS} and actions.phase is not null ${RETURNING}`,
};

/**
 * The writes of runs: each is conditional on the run's fence, and answers undefined or false when the run does not count any
 * more. Beside them the two searches of recovery.
 */
@Injectable()
export class ClaimRepository {
  /** What many runs note together is one statement: see Batcher. */
  private readonly notes = new Batcher<Fenced, boolean>((runs) => this.noteAll(runs));

  constructor(
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
  ) {}

  /**
   * Claims of runs that did not renew their lease, and what is due to be asked about, the one that lapsed first first. What
   * waits for a busy connector is left out, as long as it may wait: so it does not stand before the others.
   */
  async lapsed(limit: number, busy: BusyConnectors): Promise<Action[]> {
    return await this.withoutLease(limit, { phase: Not(IsNull()) }, (search) =>
      busy.polled.length > 0 ? search.andWhere(`not (${WAITS_FOR_BUSY})`, { ...busy }) : search,
    );
  }

  /** Actions that may begin and that nobody has claimed in time, the one that has waited longest first. */
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

  /** Committed when it answers: the first byte may leave after that. */
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
    // An earlier run of the same action may be among them.
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
