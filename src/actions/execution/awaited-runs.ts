import type { Connector } from '../../connectors/connector-type.js';
import { isKillSwitchActive, type KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import type { Tx, Participant } from '../../platform/database/transactions.js';
import { type Action, shownActionId } from '../action.js';
import { Injectable, Logger } from '@nestjs/common';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { ActionExecutor } from './action-executor.js';
import type { Claimed } from './claims.js';
import type { Release } from '../../platform/concurrency/semaphore.js';

/** An action after the transaction that requested, approved or rolled it back. */
export interface DecidedAction {
  readonly action: Action;
  /** Present if that transaction also claimed the action. */
  readonly run?: { readonly permit: Permit; readonly connector: Connector };
}

export function decidedAction(
  action: Action,
  permit: Permit | undefined,
  connector: Connector | undefined,
): DecidedAction {
  return { action, run: action.phase && permit && connector && { permit, connector } };
}

/**
 * Takes the permit for a claim. Its lock must be the first lock of a transaction, but other errors of a request come before
 * `kill_switch_active`. So the returned function throws that error, or returns the permit.
 */
export async function claimPermitLate(killSwitch: KillSwitch, tx: Tx): Promise<() => Permit> {
  try {
    const permit = await killSwitch.claimPermit(tx);
    return () => permit;
  } catch (error) {
    if (!isKillSwitchActive(error)) throw error;
    return () => {
      throw error;
    };
  }
}

/** Maximum time between the request or approval of an action and its run. A replica that needs longer is dead. */
const GRACE_MS = 5_000;

/** Runs an action for a request, which waits at most ACTION_WAIT_MS for its end. The run then continues without it. */
@Injectable()
export class AwaitedRuns {
  private readonly log = new Logger(AwaitedRuns.name);

  constructor(
    private readonly executor: ActionExecutor,
    private readonly settings: Settings,
  ) {}

  /** Time after which other replicas may begin the action of a request or approval. */
  get graceMs(): number {
    return Math.min(GRACE_MS, this.settings.actionLeaseMs);
  }

  /** Maximum time until a request is answered. */
  get answeredWithinMs(): number {
    return this.settings.actionWaitMs + GRACE_MS;
  }

  /** Returns the ended action, or the given action if the run takes longer. Runs only `pending` actions. */
  async runAndWait(
    { action, run }: DecidedAction,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    if (action.status !== 'pending') return action;
    if (run) {
      return await this.runClaimedAndWait(
        { action, permit: run.permit },
        run.connector,
        idempotency,
      );
    }
    return await this.inTime(action, this.executor.run(action, idempotency));
  }

  /** Runs an action that is already claimed. Calls `giveBack` when the run ends, also if the request waits no longer. */
  async runClaimedAndWait(
    claimed: Claimed,
    connector: Connector,
    idempotency: Participant<Action>,
    giveBack: Release = () => undefined,
  ): Promise<Action> {
    const running = this.executor.runClaimed(claimed, connector, idempotency).finally(giveBack);
    return await this.inTime(claimed.action, running);
  }

  private async inTime(action: Action, run: Promise<Action>): Promise<Action> {
    const running = run.catch((error: unknown) => {
      // Recovery finds the action in the database and continues it.
      this.log.error(
        { err: error, action: shownActionId(action.id) },
        'The run of an action failed.',
      );
      return action;
    });
    return await within(this.settings.actionWaitMs, running, () => action);
  }
}
