import { Injectable } from '@nestjs/common';
import { RegisteredWork, type HeldCounts } from './registered-work.js';
import type { KillSwitchState } from './kill-switch.errors.js';
import { KillSwitchRepository } from './kill-switch.repository.js';

/** The switch as callers read it. */
@Injectable()
export class KillSwitchStatus {
  constructor(
    private readonly states: KillSwitchRepository,
    private readonly work: RegisteredWork,
  ) {}

  async read(): Promise<{ state: KillSwitchState; held: HeldCounts }> {
    const [state, held] = await Promise.all([this.states.read(), this.work.countHeld()]);
    return { state, held };
  }
}
