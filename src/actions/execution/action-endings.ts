// SQL: one statement ends all actions of a set and writes their records. Every action needs it.
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/incident-timeline.js';
import { Clock } from '../../platform/clock.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { insertEvents } from '../../platform/work/domain-event.js';
import { type Action, type ActionResult, executedBy, shownActionId, SYSTEM } from '../action.js';
import { ActionRecorder } from '../action-records.js';
import { ACTION_COLUMNS, recordValues, withoutNulls } from '../action-rows.js';
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
const AFTER_AUDIT = 1 + OWN_PARAMETERS + AUDIT_PARAMETERS;
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
    record as (${insertAuditRows(1 + OWN_PARAMETERS)} ${OF_ENDED}),
    entry as (${insertTimeline(AFTER_AUDIT)} ${OF_ENDED}),
    event as (${insertEvents(`$${AFTER_AUDIT + TIMELINE_PARAMETERS}`, EVENT_PAYLOAD)} ${OF_ENDED})
    select * from ended`,
};

/** Ends pending actions and records their ends. */
@Injectable()
export class ActionEndings {
  constructor(
    private readonly statements: Statements,
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
    const rejected = await this.rejectAll(tx, orphans, at);
    if (changes.length === 0) return rejected;
    const records = this.recorder.recordsOf(changes);
    const column = <T>(of: (action: Action) => T) => changes.map(({ action }) => of(action));
    const rows = await this.statements.rowsIn<Action>(tx, END, [
      column(({ id }) => id),
      column(({ status }) => status),
      column(({ result }) => JSON.stringify(result)),
      column(() => at.toISOString()),
      column(({ executed_by }) => executed_by),
      column(({ connector_id }) => connector_id),
      ...recordValues(records),
    ]);
    const ids = new Set(rows.map(({ id }) => id));
    const made = changes.filter(({ action }) => ids.has(action.id));
    afterCommit(tx, () => this.recorder.recorded(records, made));
    return [...rejected, ...rows.map(withoutNulls)];
  }

  private async rejectAll(tx: Tx, ids: readonly string[], at: Date): Promise<Action[]> {
    if (ids.length === 0) return [];
    const rejection_reason = 'Its incident was deleted.';
    const rejection = { rejected_by: SYSTEM, rejected_at: at, rejection_reason };
    const where = { id: In([...ids]), status: 'pending' } as const;
    const rejected = await this.actions.reject(tx, where, rejection);
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    return rejected;
  }
}
