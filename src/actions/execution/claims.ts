import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import {
  type Participant,
  takesPart,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import { type Action, type ActionResult, executedBy, SYSTEM } from '../action.js';
import { ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository } from '../records/actions.repository.js';
import { ActionEndings } from './action-endings.js';
import { ClaimRepository } from './claim.repository.js';
import { ClaimLostError } from './execution.errors.js';
import { FAILPOINT, Failpoints } from './failpoints.js';
import { resultOfLoss } from './execution-rules.js';

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
  async release(action: Action, sent: boolean, afterMs = 0): Promise<Action> {
    const released = await this.persistently(() => this.claims.release(action, { sent, afterMs }));
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
    const reason = 'Its incident was deleted.';
    const rejected = await this.actions.rejectUnclaimed(tx, action.id, { by: SYSTEM, at, reason });
    if (rejected) await this.recorder.record(tx, 'rejected', SYSTEM, [rejected]);
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
