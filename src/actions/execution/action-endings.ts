import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type Action, type ActionResult, executedBy, SYSTEM } from '../action.js';
import { ActionRecorder } from '../action-records.js';
import { ActionsRepository } from '../actions.repository.js';
import { endOf } from './execution-rules.js';

/** End of an action. */
export interface Ending {
  readonly action: Action;
  /** Absent if the incident was deleted before anything was sent: the action is rejected. */
  readonly result?: ActionResult;
  readonly connectorId?: string;
  /** Default: who approved or requested the action. */
  readonly by?: string;
}

/** Ends actions and records their ends. */
@Injectable()
export class ActionEndings {
  constructor(
    private readonly recorder: ActionRecorder,
    private readonly actions: ActionsRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns the ended actions. */
  async endAll(tx: Tx, endings: readonly Ending[]): Promise<Action[]> {
    const ends = endings.flatMap(({ action, result, connectorId: connector_id, by }) => {
      const executed_by = by ?? executedBy(action);
      return result
        ? [{ id: action.id, status: endOf(result), result, executed_by, connector_id }]
        : [];
    });
    const ended = await this.actions.end(tx, ends, this.clock.now());
    const changes = ended.map((action) => {
      const { status, executed_by } = action;
      return { change: status as 'completed' | 'failed', actor: executed_by!, action };
    });
    await this.recorder.record(tx, changes);
    const orphans = endings.flatMap(({ action, result }) => (result ? [] : [action.id]));
    const where = { id: In(orphans), status: 'pending' } as const;
    if (orphans.length === 0) return ended;
    return [...ended, ...(await this.reject(tx, where, SYSTEM, 'Its incident was deleted.'))];
  }

  /** Rejects actions that wait for approval, or whose work this transaction ends. */
  async reject(
    tx: Tx,
    where: Parameters<ActionsRepository['reject']>[1],
    by: string,
    reason: string,
  ): Promise<Action[]> {
    const rejection = { rejected_by: by, rejected_at: this.clock.now(), rejection_reason: reason };
    const rejected = await this.actions.reject(tx, where, rejection);
    const changes = rejected.map((action) => ({ change: 'rejected', actor: by, action }) as const);
    await this.recorder.record(tx, changes);
    return rejected;
  }
}
