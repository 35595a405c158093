import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Settings } from '../../config/settings.js';
import type { Participant } from '../../database/transactions.js';
import type { Action } from '../action.js';
import { shownActionId } from '../action-id.js';
import { ActionExecutor } from './action-executor.js';

/** Between deciding and beginning there is next to nothing; whoever takes longer is dead. */
const GRACE_MS = 5_000;

/** What a request does with an action that may run: it waits for the end, but not for ever. */
@Injectable()
export class ActionRuns {
  private readonly log = new Logger(ActionRuns.name);

  constructor(
    private readonly executor: ActionExecutor,
    private readonly settings: Settings,
  ) {}

  /** How long the one who accepted an action has to begin it before others do. */
  get graceMs(): number {
    return Math.min(GRACE_MS, this.settings.actionLeaseMs);
  }

  /** How long an answer may be on its way: longer than a request waits. */
  get answeredWithinMs(): number {
    return this.settings.actionWaitMs + GRACE_MS;
  }

  /** The action when it has ended in time; else as it was, while the run goes on. Anything but `pending` is left alone. */
  async runAndWait(action: Action, keep: Participant<Action> = {}): Promise<Action> {
    if (action.status !== 'pending') return action;
    const running = this.executor.run(action, { keep }).catch((error: unknown) => {
      // It is accepted all the same: recovery goes on with it.
      this.log.error({ err: error, action: shownActionId(action.id) }, 'An action was not run.');
      return action;
    });
    const patience = new AbortController();
    const waited = sleep(this.settings.actionWaitMs, action, {
      signal: patience.signal,
      ref: false,
    }).catch(() => action);
    try {
      return await Promise.race([running, waited]);
    } finally {
      patience.abort();
    }
  }
}
