// SQL: one statement ends all actions of a set and writes their records. Every action needs it.
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import type { Statement } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type Action, type ActionResult, executedBy, shownActionId, SYSTEM } from '../action.js';
import { ActionRecorder } from '../action-records.js';
import { ACTION_COLUMNS, insertRecords, withoutNulls } from '../action-rows.js';
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

const OWN_PARAMETERS = 6;
const SHOWN_ID = `'${shownActionId('')}' || ended.id`;
const OF_ENDED = `where subject_id in (select ${SHOWN_ID} from ended)`;

/** Replaces the incident data that the run knew: the severity may have changed, or the incident may be deleted. */
const EVENT_PAYLOAD = `
  (select case when ended.incident is null then event.payload - 'incident_number' - 'incident_title' - 'severity'
               else event.payload || jsonb_build_object(
                 'severity', ended.incident -> 'severity', 'incident_title', ended.incident -> 'title') end
     from ended where ${SHOWN_ID} = event.subject_id)`;

const END: Statement = {
  name: 'actions_end',
  text: `
    with ended as (
      update actions set status = run.status, result = run.result, executed_at = run.at, executed_by = run.by,
                         connector_id = coalesce(run.connector_id, actions.connector_id)
        from unnest($1::uuid[], $2::text[], $3::json[], $4::timestamptz[], $5::text[], $6::text[])
          as run (id, status, result, at, by, connector_id)
       where actions.id = run.id and actions.status = 'pending' returning ${ACTION_COLUMNS}),
    ${insertRecords(1 + OWN_PARAMETERS, OF_ENDED, EVENT_PAYLOAD)}
    select * from ended`,
};

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
    const at = this.clock.now();
    const changes = endings.flatMap(({ action, result, connectorId, by = executedBy(action) }) => {
      if (!result) return [];
      const status = endOf(result);
      const connector_id = connectorId ?? action.connector_id;
      const ended = { ...action, status, result, executed_by: by, executed_at: at, connector_id };
      return [{ change: status, actor: by, action: ended }];
    });
    const orphans = endings.flatMap(({ action, result }) => (result ? [] : [action.id]));
    const where = { id: In(orphans), status: 'pending' } as const;
    const rejected =
      orphans.length > 0 ? await this.reject(tx, where, SYSTEM, 'Its incident was deleted.') : [];
    if (changes.length === 0) return rejected;
    const column = <T>(of: (action: Action) => T) => changes.map(({ action }) => of(action));
    const values = [
      column(({ id }) => id),
      column(({ status }) => status),
      column(({ result }) => JSON.stringify(result)),
      column(() => at.toISOString()),
      column(({ executed_by }) => executed_by),
      column(({ connector_id }) => connector_id),
    ];
    const rows = await this.recorder.write<Action>(tx, END, values, changes);
    const ids = new Set(rows.map(({ id }) => id));
    const made = changes.filter(({ action }) => ids.has(action.id));
    this.recorder.count(tx, made);
    return [...rejected, ...rows.map(withoutNulls)];
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
    await this.recorder.record(tx, 'rejected', by, rejected);
    return rejected;
  }
}
