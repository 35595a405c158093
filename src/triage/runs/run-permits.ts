import { Injectable } from '@nestjs/common';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import type { Tx } from '../../platform/database/transactions.js';
import { TriageModel } from '../model/triage-model.port.js';

/** The kill switch as runs meet it: it holds those whose model asks outside, and no others. */
@Injectable()
export class RunPermits {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly model: TriageModel,
  ) {}

  get areNeeded(): boolean {
    return this.model.asksOutside;
  }

  /** Undefined where none is needed; a request that is sent all the same has to ask for one. Throws `kill_switch_active`. */
  async claim(tx: Tx): Promise<Permit | undefined> {
    return this.areNeeded ? await this.killSwitch.claimPermit(tx) : undefined;
  }

  /** Whether runs have to wait for the kill switch now. */
  async areWithheld(): Promise<boolean> {
    return this.areNeeded && (await this.killSwitch.isActive());
  }
}
