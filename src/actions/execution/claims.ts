// SQL: one statement ends all actions of a batch and writes their records. Every action needs it.
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

/** Points of an execution after which a crash leaves a different state, in their order. */
export const FAILPOINT = {
  /** The action is unclaimed: it was requeued or held. A request or approval claims its action in its own transaction. */
  unclaimed: 1,
  /** The action is claimed, and nothing was sent. */
  claimed: 2,
  /** The sending is recorded, and nothing was sent. */
  sending: 3,
  /** The connector has an outcome that is not stored. */
  answered: 4,
  /** The acceptance by the vendor is stored. */
  vendorAccepted: 5,
  /** The outcome is written, and the transaction has not committed. */
  finishing: 6,
  /** The outcome is committed, and the caller has no answer. */
  finished: 7,
  /** Before each renewal of a lease. A run that stops here renews nothing. */
  renewing: 8,
} as const;

/** Does nothing. Tests replace it to stop a process at a point. */
@Injectable()
export class Failpoints {
  async hit(_point: number): Promise<void> {}
}

/** End of a run and of its action. */
export interface Ending {
  /** The action as the run knows it. */
  readonly action: Action;
  readonly result: ActionResult;
  readonly by: string;
  readonly at: Date;
}

const OWN_PARAMETERS = 6;
const AFTER_AUDIT = 1 + OWN_PARAMETERS + AUDIT_PARAMETERS;
const SHOWN_ID = `'${shownActionId('')}' || ended.id`;
const OF_ENDED = `where subject_id in (select ${SHOWN_ID} from ended)`;

/** Replaces the incident data that the run knew: the severity may have changed, or the incident may be deleted. */
const EVENT_PAYLOAD = `
  (select case when ended.incident is null then event.payload - 'incident_number' - 'incident_title' - 'severity'
               else event.payload || jsonb_build_object(
                 'severity', ended.incident -> 'severity', 'incident_title', ended.incident -> 'title') end
     from ended where ${SHOWN_ID} = event.subject_id)`;

/** A run that has lost its claim ends nothing and records nothing. */
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

  /** Ends the action in the given transaction. */
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
    const notify = () => this.recorder.recorded(records, done.map(changeOf));
    if (!tx) notify();
    else if (done.length > 0) afterCommit(tx, notify);
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

/** Returns the ending of the latest run of each action. */
function latestOf(endings: readonly Ending[]): Ending[] {
  const latest = new Map<string, Ending>();
  for (const ending of endings) {
    const { id, fence } = ending.action;
    const other = latest.get(id);
    if (!other || other.action.fence < fence) latest.set(id, ending);
  }
  return [...latest.values()];
}

/** Returns the recorded change, with the action after its end. */
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

/** Writes the progress of a run: its claim, its sending, its outcome. */
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

  /** Returns `undefined` if another run has the action or it has ended. Throws `kill_switch_active`. */
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

  /** Renews the claim in the transaction that renews the permit. Throws ClaimLostError. */
  async confirm(tx: Tx, action: Action): Promise<void> {
    if (!(await this.claims.renewIn(tx, action, this.settings.actionLeaseMs))) {
      throw new ClaimLostError();
    }
  }

  /** Takes lapsed claims over for this replica. Omits claims that another replica took. */
  async takeOver(left: readonly Action[]): Promise<Action[]> {
    return left.length > 0 ? await this.claims.takeOver(left, this.settings.actionLeaseMs) : [];
  }

  /** Ends lapsed claims, so that their actions wait for a run. Returns the number of actions. */
  async requeue(left: readonly Action[]): Promise<number> {
    return left.length > 0 ? await this.claims.requeue(left) : 0;
  }

  /** Delays an action that could not begin by one lease, so that other actions come first. */
  async defer(action: Action): Promise<void> {
    await this.claims.defer(action, this.settings.actionLeaseMs);
  }

  /** For a rollback: returns the result data of the original action, which the vendor may need to undo the same effect. */
  async resultToRollBack({ rollback_of }: Action): Promise<ActionResult['data']> {
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
   * Ends the run of an operation that the vendor accepted. After `restMs` any replica polls it. The write is retried, because
   * the vendor cannot be polled without the handle.
   */
  async vendorAccepted(
    action: Action,
    handle: Readonly<Record<string, unknown>>,
    restMs: number,
  ): Promise<Action> {
    const accepted = await this.retryWhileDatabaseIsDown(() =>
      this.claims.vendorAccepted(action, handle, restMs),
    );
    if (!accepted) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.vendorAccepted);
    return accepted;
  }

  /** Ends the claim, so that another run begins again. `sent`: this run or an earlier run may have sent a request. */
  async release(action: Action, sent: boolean): Promise<Action> {
    const released = await this.retryWhileDatabaseIsDown(() => this.claims.release(action, sent));
    if (!released) throw new ClaimLostError();
    return released;
  }

  /** Ends a claimed or unclaimed action. Retries while the database is down, so that a known outcome is not lost. */
  async finish(
    action: Action,
    result: ActionResult,
    idempotency: Participant<Action> = {},
  ): Promise<Action> {
    const ending = { action, result, by: executedBy(action), at: this.clock.now() };
    // A stored idempotent answer needs a transaction with the end. Other ends share one statement.
    const end = () =>
      takesPart(idempotency)
        ? this.transactions.run<Action>(async (tx) => {
            const ended = await this.endings.endIn(tx, ending);
            if (!ended) throw new ClaimLostError();
            await this.failpoints.hit(FAILPOINT.finishing);
            return ended;
          }, idempotency)
        : this.endings.end(ending);
    const finished = await this.retryWhileDatabaseIsDown(end);
    if (!finished) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.finished);
    return finished;
  }

  /** Returns the stored action, as another run left it. */
  async present(action: Action): Promise<Action> {
    return (await this.actions.findById(action.id)) ?? action;
  }

  /** Ends an action that cannot be claimed because its incident is deleted. */
  private async endOrphan(tx: Tx, action: Action): Promise<void> {
    const at = this.clock.now();
    if (action.sent) {
      const message = 'The incident was deleted before another attempt.';
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

  /** Safe if the lease expires meanwhile: another run then has a higher fence, so this write has no effect. */
  private async retryWhileDatabaseIsDown<T>(write: () => Promise<T>): Promise<T> {
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
