import { Injectable } from '@nestjs/common';
import { within } from '../platform/concurrency/within.js';
import type { Caller } from '../platform/http/caller.js';
import type { Tx } from '../platform/database/transactions.js';
import {
  HELD,
  type HeldCounts,
  type HeldName,
  type HeldWork,
  type UnderWay,
} from './kill-switch.js';

/** An activation has to be answered soon, if need be without the number of calls under way. */
const COUNT_PATIENCE_MS = 250;

/** The work that other modules have registered with the kill switch: calls under way, and work that waits. */
@Injectable()
export class RegisteredWork {
  private readonly underWay: UnderWay[] = [];
  private readonly held = new Map<HeldName, HeldWork>();

  registerUnderWay(source: UnderWay): void {
    this.underWay.push(source);
  }

  registerHeld(name: HeldName, work: HeldWork): void {
    this.held.set(name, work);
  }

  /** Undefined when it could not be counted in time. */
  async countInFlight(): Promise<number | undefined> {
    const counting = Promise.all(this.underWay.map((source) => source.countClaims()))
      .then((counts) => counts.reduce((sum, { inFlight }) => sum + inFlight, 0))
      .catch(() => undefined);
    return await within(COUNT_PATIENCE_MS, counting, () => undefined);
  }

  countHeld(): Promise<HeldCounts> {
    return this.each((work) => work.count());
  }

  discardHeld(tx: Tx, caller: Caller): Promise<HeldCounts> {
    return this.each((work) => work.discard(tx, caller));
  }

  /** One after the other, because a transaction has one connection. */
  private async each(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts: Record<HeldName, number> = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const name of HELD) {
      const work = this.held.get(name);
      if (work) counts[name] = await ask(work);
    }
    return counts;
  }
}
