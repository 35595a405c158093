import type { Connector } from '../../connectors/connector-type.js';
import { isKillSwitchActive, type KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import type { Tx, Participant } from '../../platform/database/transactions.js';
import { type Action, shownActionId } from '../action.js';
import { Injectable, Logger } from '@nestjs/common';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { ActionExecutor } from './action-executor.js';
import type { Claimed } from './claims.js';
import type { GiveBack } from './action-connectors.js';

/** An action as the transaction has left it that requested, approved or rolled it back. */
export interface DecidedAction {
  readonly action: Action;
  /** Present where that transaction has claimed it, too: this is what its run needs. */
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
 * Takes the permit for a claim. Its lock is the first of all locks of a transaction, but a request that is wrong in another
 * way is told so first: the returned function throws `kill_switch_active`, or returns the permit.
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

/** Between creating or approving an action and beginning it there is hardly any work: a replica that takes longer is dead. */
const GRACE_MS = 5_000;

/** Runs an action for a request, which waits for its end, but no longer than ACTION_WAIT_MS: the run then goes on without it. */
@Injectable()
export class AwaitedRuns {
  private readonly log = new Logger(AwaitedRuns.name);

  constructor(
    private readonly executor: ActionExecutor,
    private readonly settings: Settings,
  ) {}

  /** How long the replica that created or approved an action has to begin it before others do. */
  get graceMs(): number {
    return Math.min(GRACE_MS, this.settings.actionLeaseMs);
  }

  /** How long an answer may be on its way: longer than a request waits. */
  get answeredWithinMs(): number {
    return this.settings.actionWaitMs + GRACE_MS;
  }

  /** The action when it has ended in time; else as it was, while the run goes on. Anything but `pending` is left alone. */
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
    return await this.inTime(action, this.executor.run(action, { idempotency }));
  }

  /**
   * The same, for an action that was claimed by the transaction that decided on it. A place of its connector is given back when
   * the vendor has answered, whoever waits for how long.
   */
  async runClaimedAndWait(
    claimed: Claimed,
    connector: Connector,
    idempotency: Participant<Action>,
    giveBack: GiveBack = () => undefined,
  ): Promise<Action> {
    const running = this.executor.runClaimed(claimed, connector, { idempotency }).finally(giveBack);
    return await this.inTime(claimed.action, running);
  }

  private async inTime(action: Action, run: Promise<Action>): Promise<Action> {
    const running = run.catch((error: unknown) => {
      // It stays as it is in the database, where recovery finds it and goes on with it.
      this.log.error({ err: error, action: shownActionId(action.id) }, 'An action was not run.');
      return action;
    });
    return await within(this.settings.actionWaitMs, running, () => action);
  }
}
