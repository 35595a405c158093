import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Caller } from '../../platform/http/caller.js';
import { Clock } from '../../platform/clock.js';
import type { Tx } from '../../platform/database/transactions.js';
import { IncidentEndings } from '../../incidents/incident-endings.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { SYSTEM } from '../action.js';
import { ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository } from '../records/actions.repository.js';
import { resultOfLoss } from '../execution/execution-rules.js';

/**
 * Ends actions that have not begun: all that the kill switch held, where whoever turns it off asks for that, those of an
 * incident that is deleted, or closed by somebody who asks for that, and that of a playbook run that is cancelled. It also tells the kill switch how many actions are held and how many calls are under way.
 */
@Injectable()
export class ActionWithdrawal implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly endings: IncidentEndings,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.killSwitch.registerUnderWay({
      countClaims: async () => ({ inFlight: await this.actions.countUnderWay() }),
    });
    this.killSwitch.registerHeld('actions', {
      count: () => this.actions.countUnclaimed(),
      discard: (tx, caller) => this.discard(tx, caller),
    });
    this.endings.register({
      onDeleted: async (tx, incidentId) => {
        await this.rejectOfIncident(tx, incidentId, SYSTEM, 'Its incident was deleted.');
      },
      pending: {
        name: 'actions',
        count: (tx, incidentId) => this.actions.countPendingOf(tx, incidentId),
        withdraw: (...ending) => this.rejectOfIncident(...ending),
      },
    });
  }

  /** Nothing happens when it has begun, or waits for approval: then somebody has to reject it. */
  async withdraw(tx: Tx, id: string, by: string, reason: string): Promise<void> {
    const rejection = { by, at: this.clock.now(), reason };
    const rejected = await this.actions.rejectUnclaimed(tx, id, rejection);
    if (rejected) await this.recorder.record(tx, 'rejected', by, [rejected]);
  }

  private async discard(tx: Tx, caller: Caller): Promise<number> {
    const at = this.clock.now();
    const reason = `Discarded by ${caller.name}, who turned the kill switch off.`;
    const rejected = await this.actions.rejectHeld(tx, { by: SYSTEM, at, reason });
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    const unknown = resultOfLoss({
      kind: 'stopped',
      message: reason,
      sent: true,
      idempotent: false,
    });
    const failed = await this.actions.failHeld(tx, unknown, at);
    await this.recorder.record(tx, 'failed', SYSTEM, failed);
    return rejected.length + failed.length;
  }

  private async rejectOfIncident(
    tx: Tx,
    incidentId: string,
    by: string,
    reason: string,
  ): Promise<number> {
    const rejection = { by, at: this.clock.now(), reason };
    const rejected = await this.actions.rejectOfIncident(tx, incidentId, rejection);
    await this.recorder.record(tx, 'rejected', by, rejected);
    return rejected.length;
  }
}
