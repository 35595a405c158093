import { Injectable } from '@nestjs/common';
import { AffectedWork, type HeldCounts } from './affected-work.js';
import type { KillSwitchState } from './kill-switch-state.js';
import { KillSwitchRepository } from './kill-switch.repository.js';

/** The switch as callers read it. */
@Injectable()
export class KillSwitchStatus {
  constructor(
    private readonly states: KillSwitchRepository,
    private readonly work: AffectedWork,
  ) {}

  async read(): Promise<{ state: KillSwitchState; held: HeldCounts }> {
    const [state, held] = await Promise.all([this.states.read(), this.work.countHeld()]);
    return { state, held };
  }
}
