import { Injectable } from '@nestjs/common';
import { within } from '../platform/concurrency/within.js';
import type { Caller } from '../platform/http/caller.js';
import type { Tx } from '../platform/database/transactions.js';
import { HELD, type HeldName, type HeldWork, type UnderWay } from './kill-switch.js';

export type HeldCounts = Readonly<Record<HeldName, number>>;

/** An activation answers in time, if need be without saying how much is under way. */
const COUNT_PATIENCE_MS = 250;

/** What the modules above have under way, and what waits there. */
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
  async inFlight(): Promise<number | undefined> {
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

  /** One after the other: in a transaction there is one connection. */
  private async each(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts: Record<HeldName, number> = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const name of HELD) {
      const work = this.held.get(name);
      if (work) counts[name] = await ask(work);
    }
    return counts;
  }
}
