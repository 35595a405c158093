import { Injectable } from '@nestjs/common';
import { type Tx, Transactions } from '../platform/database/transactions.js';
import { RegisteredWork } from './registered-work.js';
import { type HeldName, type HeldWork, KillSwitch, type UnderWay } from './kill-switch.js';
import {
  KillSwitchActiveError,
  type KillSwitchState,
  KillSwitchUnreadableError,
} from './kill-switch.errors.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { Permit, presentTimes } from './permit.js';
import { SwitchLock } from './switch-lock.js';

@Injectable()
export class KillSwitchService extends KillSwitch {
  constructor(
    private readonly transactions: Transactions,
    private readonly states: KillSwitchRepository,
    private readonly lock: SwitchLock,
    private readonly work: RegisteredWork,
  ) {
    super();
  }

  async claimPermit(tx: Tx): Promise<Permit> {
    await this.lock.lockShared(tx);
    const since = presentTimes();
    // A statement of its own: it has to see what was committed while this one waited for the lock.
    const state = await this.states.readIn(tx);
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

  async assertInactive(): Promise<void> {
    const state = await this.states.read();
    if (state.active) throw new KillSwitchActiveError(state);
  }

  async isActive(): Promise<boolean> {
    return (await this.readOrActive()).active;
  }

  /** Never throws: what cannot be read counts as active. */
  async readOrActive(): Promise<KillSwitchState & { readonly unreadable?: true }> {
    try {
      return await this.states.read();
    } catch {
      return { active: true, unreadable: true, reason: new KillSwitchUnreadableError().message };
    }
  }

  registerUnderWay(source: UnderWay): void {
    this.work.registerUnderWay(source);
  }

  registerHeld(name: HeldName, work: HeldWork): void {
    this.work.registerHeld(name, work);
  }
}
