import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Caller } from '../../platform/http/caller.js';
import { Clock } from '../../platform/clock.js';
import type { Tx } from '../../platform/database/transactions.js';
import { IncidentDeletion } from '../../incidents/incident-deletion.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { SYSTEM } from '../action.js';
import { ActionRecorder } from '../records/action-recorder.js';
import { ActionReadRepository } from '../records/action-read.repository.js';
import { ActionsRepository } from '../records/actions.repository.js';
import { resultOfLoss } from '../execution/execution-rules.js';

/** What becomes of waiting actions when the kill switch goes off or their incident goes away. */
@Injectable()
export class ActionWithdrawal implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly deletion: IncidentDeletion,
    private readonly reads: ActionReadRepository,
    private readonly writes: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.killSwitch.registerUnderWay({
      countClaims: async () => ({ inFlight: await this.reads.countUnderWay() }),
    });
    this.killSwitch.registerHeld('actions', {
      count: () => this.reads.countHeld(),
      discard: (tx, caller) => this.discard(tx, caller),
    });
    this.deletion.register((tx, incidentId) => this.rejectOfIncident(tx, incidentId));
  }

  private async discard(tx: Tx, caller: Caller): Promise<number> {
    const at = this.clock.now();
    const reason = `Discarded by ${caller.name}, who turned the kill switch off.`;
    const rejected = await this.writes.discardHeld(tx, { by: SYSTEM, at, reason });
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    const unknown = resultOfLoss({
      kind: 'stopped',
      message: reason,
      sent: true,
      idempotent: false,
    });
    const given = await this.writes.discardSent(tx, unknown, at);
    await this.recorder.record(tx, 'failed', SYSTEM, given);
    return rejected.length + given.length;
  }

  private async rejectOfIncident(tx: Tx, incidentId: string): Promise<void> {
    const rejection = { by: SYSTEM, at: this.clock.now(), reason: 'Its incident was deleted.' };
    const rejected = await this.writes.rejectOfIncident(tx, incidentId, rejection);
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
  }
}
