import { Injectable, type OnModuleInit } from '@nestjs/common';
import { In } from 'typeorm';
import { IncidentEndings } from '../incidents/incidents.service.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import type { Tx } from '../platform/database/transactions.js';
import { SYSTEM } from './action.js';
import { ActionsRepository, WAITING, type Withdrawal } from './actions.repository.js';
import { ActionEndings } from './execution/action-endings.js';
import { resultOfLoss } from './execution/execution-rules.js';

/**
 * Ends actions that have not begun: when held actions are discarded, when an incident is deleted or closed with
 * `pending: withdraw`, and when a playbook run is cancelled.
 */
@Injectable()
export class ActionWithdrawals implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly incidentEndings: IncidentEndings,
    private readonly actions: ActionsRepository,
    private readonly endings: ActionEndings,
  ) {}

  onModuleInit(): void {
    this.killSwitch.register('actions', {
      inFlight: async () => (await this.actions.countWork()).in_flight,
      count: async () => (await this.actions.countWork()).held,
      discard: async (tx, { name }) => {
        const reason = `Discarded by ${name}, who turned the kill switch off.`;
        return await this.withdrawAll(tx, { sent: true }, SYSTEM, reason);
      },
    });
    this.incidentEndings.register({
      pending: 'actions',
      count: (tx, incidentId) => this.actions.countWaitingOf(tx, incidentId),
      end: async (tx, incident_id, by, reason) => {
        const waiting = await this.endings.reject(tx, { incident_id, ...WAITING }, by, reason);
        return waiting.length + (await this.withdrawAll(tx, { incident_id }, by, reason));
      },
    });
  }

  /** Rejects the action if it waits for approval. */
  async reject(tx: Tx, id: string, by: string, reason: string): Promise<void> {
    await this.endings.reject(tx, { id, ...WAITING }, by, reason);
  }

  /** Rejects the action if it has not begun. Does nothing if it has begun or waits for approval. */
  async withdraw(tx: Tx, id: string, by: string, reason: string): Promise<void> {
    await this.withdrawAll(tx, { id }, by, reason);
  }

  /** Rejects actions that have not begun, and fails those whose call may have been sent. Returns their number. */
  private async withdrawAll(
    tx: Tx,
    which: Withdrawal,
    by: string,
    message: string,
  ): Promise<number> {
    const withdrawn = await this.actions.withdraw(tx, which);
    const idsOf = (isSent: boolean) =>
      withdrawn.flatMap(({ id, sent }) => (sent === isSent ? [id] : []));
    const unsent = idsOf(false);
    if (unsent.length > 0) await this.endings.reject(tx, { id: In(unsent) }, by, message);
    const result = resultOfLoss({ kind: 'stopped', message, sent: true, idempotent: false });
    const sent = await this.actions.lock(tx, idsOf(true));
    await this.endings.endAll(
      tx,
      sent.map((action) => ({ action, result, by: SYSTEM })),
    );
    return withdrawn.length;
  }
}
