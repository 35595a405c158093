import { Injectable } from '@nestjs/common';
import { type Tx, Transactions } from '../platform/database/transactions.js';
import { RegisteredWork } from './registered-work.js';
import {
  type HeldName,
  type HeldWork,
  KillSwitch,
  type UnderWay,
  type HeldCounts,
  type KillSwitchState,
} from './kill-switch.js';
import { KillSwitchActiveError } from './kill-switch.errors.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { Permit, presentTimes } from './permit.js';

/** Reads the switch: permits for claims, and its state for whoever asks. */
@Injectable()
export class KillSwitchService extends KillSwitch {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: KillSwitchRepository,
    private readonly work: RegisteredWork,
  ) {
    super();
  }

  async claimPermit(tx: Tx): Promise<Permit> {
    await this.repository.lockShared(tx);
    const since = presentTimes();
    // A statement of its own, so that it sees what was committed while the one before waited for the lock.
    const state = await this.repository.readIn(tx);
    if (state.active) throw new KillSwitchActiveError(state);
    return new Permit(since);
  }

  async renewPermit(reclaim?: (tx: Tx) => Promise<void>): Promise<Permit> {
    return await this.transactions.run(async (tx) => {
      const permit = await this.claimPermit(tx);
      await reclaim?.(tx);
      return permit;
    });
  }

  async isActive(): Promise<boolean> {
    return (await this.readIfPossible())?.active ?? true;
  }

  /** Of a switch that cannot be read nothing is known, and it counts as active all the same. */
  async readIfPossible(): Promise<KillSwitchState | undefined> {
    return await this.repository.read().catch(() => undefined);
  }

  /** The switch, and how much work waits for its deactivation. */
  async readWithHeld(): Promise<{ readonly state: KillSwitchState; readonly held: HeldCounts }> {
    const [state, held] = await Promise.all([this.repository.read(), this.work.countHeld()]);
    return { state, held };
  }

  registerUnderWay(source: UnderWay): void {
    this.work.registerUnderWay(source);
  }

  registerHeld(name: HeldName, work: HeldWork): void {
    this.work.registerHeld(name, work);
  }
}
