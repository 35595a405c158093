// SQL: every action pays for its end, and it is one statement for all that end together, with all that is recorded of it.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/incident-timeline.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import {
  afterCommit,
  type Tx,
  type Participant,
  takesPart,
  Transactions,
} from '../../platform/database/transactions.js';
import { insertEvents } from '../../platform/work/domain-event.js';
import { type Action, type ActionResult, shownActionId, executedBy, SYSTEM } from '../action.js';
import { type ActionChanged, ActionRecorder } from '../action-records.js';
import { ActionsRepository, REJECTABLE } from '../actions.repository.js';
import {
  ACTION_COLUMNS,
  actionOf,
  type ActionRow,
  type ChangeRecords,
  recordValues,
} from '../action-rows.js';
import { endOf, resultOfLoss } from './execution-rules.js';
import { OF_RUN, ClaimRepository } from './claim.repository.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import { ClaimLostError } from './lease-keeper.js';

/** The places of an execution at which a crash leaves something different behind, in their order. */
export const FAILPOINT = {
  /** Nobody has claimed the action: it was put back, or was held. What is requested or approved is claimed with that. */
  unclaimed: 1,
  /** It is claimed, and nothing was sent. */
  claimed: 2,
  /** It is noted that a call may be on its way, and nothing has left. */
  sending: 3,
  /** The connector has an outcome, which nobody has written down. */
  answered: 4,
  /** The vendor's word that it is working on it is written down. */
  vendorAccepted: 5,
  /** The outcome is about to be committed. */
  finishing: 6,
  /** The outcome is committed, and has not been answered to anybody. */
  finished: 7,
  /** Not a step of its own: passed before each renewal of a lease, so that a run that is stopped here renews none. */
  renewing: 8,
} as const;

/** Where a test can make a process die. Nothing happens here otherwise. */
@Injectable()
export class Failpoints {
  async hit(_point: number): Promise<void> {}
}

/** The end of a run, and with it of the action. */
export interface Ending {
  /** As the run had it. */
  readonly action: Action;
  readonly result: ActionResult;
  readonly by: string;
  readonly at: Date;
}

const OWN_PARAMETERS = 6;
const AFTER_AUDIT = 1 + OWN_PARAMETERS + AUDIT_PARAMETERS;
const SHOWN_ID = `'${shownActionId('')}' || ended.id`;
const OF_ENDED = `where subject_id in (select ${SHOWN_ID} from ended)`;

/** The run had the incident as it was before: it may be more severe by now, or deleted. */
const EVENT_PAYLOAD = `
  (select case when ended.incident is null then event.payload - 'incident_number' - 'incident_title' - 'severity'
               else event.payload || jsonb_build_object(
                 'severity', ended.incident -> 'severity', 'incident_title', ended.incident -> 'title') end
     from ended where ${SHOWN_ID} = event.subject_id)`;

/** A run that does not count any more ends nothing, and nothing is recorded of it. */
const END: Statement = {
  name: 'actions_end',
  text: `
    with ended as (
      update actions set status = run.status, result = run.result, executed_at = run.at, executed_by = run.by,
                         phase = null, lease_until = null
        from unnest($1::uuid[], $2::integer[], $3::text[], $4::json[], $5::timestamptz[], $6::text[])
          as run (id, fence, status, result, at, by)
       where ${OF_RUN} returning ${ACTION_COLUMNS}),
    record as (${insertAuditRows(1 + OWN_PARAMETERS)} ${OF_ENDED}),
    entry as (${insertTimeline(AFTER_AUDIT)} ${OF_ENDED}),
    event as (${insertEvents(`$${AFTER_AUDIT + TIMELINE_PARAMETERS}`, EVENT_PAYLOAD)} ${OF_ENDED})
    select * from ended`,
};

/**
 * Ends actions and records their ends. The end of a run that lost its claim changes nothing: the fence shows it. Endings that arrive
 * together are one statement, which is its own transaction.
 */
@Injectable()
export class ActionEndings {
  private readonly batches = new Batcher<Ending, Action | undefined>((endings) =>
    this.endAll(endings),
  );

  constructor(
    private readonly statements: Statements,
    private readonly recorder: ActionRecorder,
  ) {}

  /** Returns the ended action, or `undefined` if the run had lost its claim. */
  async end(ending: Ending): Promise<Action | undefined> {
    return await this.batches.submit(ending);
  }

  /** Ends the action in a transaction in which others take part. */
  async endIn(tx: Tx, ending: Ending): Promise<Action | undefined> {
    return (await this.endAll([ending], tx))[0];
  }

  private async endAll(endings: readonly Ending[], tx?: Tx): Promise<(Action | undefined)[]> {
    const latest = latestOf(endings);
    const records = this.recorder.recordsOf(latest.map(changeOf));
    const values = endValues(latest, records);
    const rows = tx
      ? await this.statements.rowsIn<ActionRow>(tx, END, values)
      : await this.statements.rows<ActionRow>(END, values);
    const ended = new Map(rows.map(actionOf).map((action) => [action.id, action]));
    const done = latest.filter(({ action }) => ended.has(action.id));
    const tell = () => this.recorder.recorded(records, done.map(changeOf));
    if (!tx) tell();
    else if (done.length > 0) afterCommit(tx, tell);
    return endings.map((ending) =>
      done.includes(ending) ? ended.get(ending.action.id) : undefined,
    );
  }
}

function endValues(endings: readonly Ending[], records: ChangeRecords): unknown[] {
  return [
    endings.map(({ action }) => action.id),
    endings.map(({ action }) => action.fence),
    endings.map(({ result }) => endOf(result)),
    endings.map(({ result }) => JSON.stringify(result)),
    endings.map(({ at }) => at.toISOString()),
    endings.map(({ by }) => by),
    ...recordValues(records),
  ];
}

/** One of each action: where a later run is known, an earlier one does not count any more. */
function latestOf(endings: readonly Ending[]): Ending[] {
  const latest = new Map<string, Ending>();
  for (const ending of endings) {
    const { id, fence } = ending.action;
    const other = latest.get(id);
    if (!other || other.action.fence < fence) latest.set(id, ending);
  }
  return [...latest.values()];
}

/** What is recorded: the action as it is when it has ended. */
function changeOf({ action, result, by, at }: Ending): ActionChanged {
  const status = endOf(result);
  const ended = { ...action, status, result, executed_by: by, executed_at: at };
  return { change: status, actor: by, action: ended };
}

const DATABASE_PAUSE_MS = 500;

export interface Claimed {
  readonly action: Action;
  readonly permit: Permit;
}

/** What a run writes: the transaction that claims, the one that finishes, and its notes in between. */
@Injectable()
export class Claims {
  constructor(
    private readonly transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly incidents: IncidentsService,
    private readonly claims: ClaimRepository,
    private readonly endings: ActionEndings,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly failpoints: Failpoints,
  ) {}

  /** Undefined when another run has it, or it has ended. Throws `kill_switch_active`. */
  async claim(action: Action, connectorId: string): Promise<Claimed | undefined> {
    const leaseMs = this.settings.actionLeaseMs;
    return await this.transactions.run<Claimed | undefined>(async (tx) => {
      const permit = await this.killSwitch.claimPermit(tx);
      if (action.incident_id && !(await this.incidents.lockForShare(tx, action.incident_id))) {
        await this.endOrphan(tx, action);
        return undefined;
      }
      const claimed = await this.claims.claim(tx, action, { connectorId, leaseMs });
      return claimed && { action: claimed, permit };
    });
  }

  /** Makes sure, in a transaction that renews the permit, that the claim still holds. */
  async confirm(tx: Tx, action: Action): Promise<void> {
    if (!(await this.claims.renewIn(tx, action, this.settings.actionLeaseMs))) {
      throw new ClaimLostError();
    }
  }

  /** Makes claims that have lapsed this replica's own. Those that another replica was faster with are missing in the answer. */
  async takeOver(left: readonly Action[]): Promise<Action[]> {
    return left.length > 0 ? await this.claims.takeOver(left, this.settings.actionLeaseMs) : [];
  }

  /** Ends claims that have lapsed, so that their actions wait for a run again; answers how many. */
  async requeue(left: readonly Action[]): Promise<number> {
    return left.length > 0 ? await this.claims.requeue(left) : 0;
  }

  /** For an action that could not be begun, so that others go before it: it has its turn again a lease later. */
  async defer(action: Action): Promise<void> {
    await this.claims.defer(action, this.settings.actionLeaseMs);
  }

  /** What the result of the action that this one rolls back has as data: a vendor may need it to undo the same thing. */
  async undone({ rollback_of }: Action): Promise<ActionResult['data']> {
    if (rollback_of === undefined) return undefined;
    return (await this.actions.findById(rollback_of))?.result?.data;
  }

  async noteSending(action: Action): Promise<void> {
    if (!(await this.claims.noteSending(action))) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.sending);
  }

  async renew(action: Action): Promise<boolean> {
    await this.failpoints.hit(FAILPOINT.renewing);
    return await this.claims.renew(action, this.settings.actionLeaseMs);
  }

  /**
   * The vendor is doing it, and the run ends: the action is due again after its rest, for whichever replica comes first. The
   * handle is written however often that takes: without it nobody can ask how far the vendor is.
   */
  async vendorAccepted(
    action: Action,
    handle: Readonly<Record<string, unknown>>,
    restMs: number,
  ): Promise<Action> {
    const accepted = await this.persistently(() =>
      this.claims.vendorAccepted(action, handle, restMs),
    );
    if (!accepted) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.vendorAccepted);
    return accepted;
  }

  /** Ends the claim, so that another run begins again. `sent` says whether this run or an earlier one may have sent something. */
  async release(action: Action, sent: boolean): Promise<Action> {
    const released = await this.persistently(() => this.claims.release(action, sent));
    if (!released) throw new ClaimLostError();
    return released;
  }

  /** Also for an action that nobody claimed. When the database is away, it waits: what is known of an effect must not be lost. */
  async finish(
    action: Action,
    result: ActionResult,
    idempotency: Participant<Action> = {},
  ): Promise<Action> {
    const ending = { action, result, by: executedBy(action), at: this.clock.now() };
    // An answer that is kept with the end needs a transaction. Any other end shares its statement with other ends.
    const end = () =>
      takesPart(idempotency)
        ? this.transactions.run<Action>(async (tx) => {
            const ended = await this.endings.endIn(tx, ending);
            if (!ended) throw new ClaimLostError();
            await this.failpoints.hit(FAILPOINT.finishing);
            return ended;
          }, idempotency)
        : this.endings.end(ending);
    const finished = await this.persistently(end);
    if (!finished) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.finished);
    return finished;
  }

  /** The action as another run has left it. */
  async present(action: Action): Promise<Action> {
    return (await this.actions.findById(action.id)) ?? action;
  }

  /** Ends an action that could not be claimed because its incident was deleted meanwhile. */
  private async endOrphan(tx: Tx, action: Action): Promise<void> {
    const at = this.clock.now();
    if (action.sent) {
      const message = 'Its incident was deleted before it could be tried again.';
      const result = resultOfLoss({ kind: 'stopped', message, sent: true, idempotent: true });
      await this.endings.endIn(tx, { action, result, by: SYSTEM, at });
      return;
    }
    const unclaimed = { id: action.id, ...REJECTABLE.unclaimed };
    const rejection_reason = 'Its incident was deleted.';
    const rejection = { rejected_by: SYSTEM, rejected_at: at, rejection_reason };
    const rejected = await this.actions.reject(tx, unclaimed, rejection);
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
  }

  /**
   * Tries again while the database is away. A lease that lapses meanwhile does no harm: whoever takes the claim over has a
   * higher fence, and this write then changes nothing.
   */
  private async persistently<T>(write: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + this.settings.actionDeadlineMs;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > giveUpAt) throw error;
        await sleep(DATABASE_PAUSE_MS, undefined, { ref: false });
      }
    }
  }
}
