// SQL: every action pays for its end, and it is one statement for all that end together, with all that is recorded of it.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/writing/audit-insert.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/timeline-insert.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';
import type { Action, ActionResult } from '../action.js';
import { shownActionId } from '../action-id.js';
import type { ChangeRecords } from '../records/action-records.repository.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from '../records/action-rows.js';
import { OF_RUN } from './claim.repository.js';

/** The end of a run, and with it of the action. */
export interface Ending {
  /** As the run had it. */
  readonly action: Action;
  readonly result: ActionResult;
  readonly by: string;
  readonly at: Date;
}

const OWN_PARAMETERS = 6;
const AFTER_AUDIT = 1 + OWN_PARAMETERS + AUDIT_PARAMETERS;
const SHOWN_ID = `'${shownActionId('')}' || ended.id`;
const OF_ENDED = `where subject_id in (select ${SHOWN_ID} from ended)`;

/** The run had the incident as it was before: it may be more severe by now, or deleted. */
const EVENT_PAYLOAD = `
  (select case when ended.incident is null then event.payload - 'incident_number' - 'incident_title' - 'severity'
               else event.payload || jsonb_build_object(
                 'severity', ended.incident -> 'severity', 'incident_title', ended.incident -> 'title') end
     from ended where ${SHOWN_ID} = event.subject_id)`;

/** A run that does not count any more ends nothing, and nothing is recorded of it. */
const END: Statement = {
  name: 'actions_end',
  text: `
    with ended as (
      update actions set status = run.status, result = run.result, executed_at = run.at, executed_by = run.by,
                         phase = null, lease_until = null
        from unnest($1::uuid[], $2::integer[], $3::text[], $4::json[], $5::timestamptz[], $6::text[])
          as run (id, fence, status, result, at, by)
       where ${OF_RUN} returning ${ACTION_COLUMNS}),
    record as (${insertAuditRows(1 + OWN_PARAMETERS)} ${OF_ENDED}),
    entry as (${insertTimeline(AFTER_AUDIT)} ${OF_ENDED}),
    event as (${insertEvents(`$${AFTER_AUDIT + TIMELINE_PARAMETERS}`, EVENT_PAYLOAD)} ${OF_ENDED})
    select * from ended`,
};

/** At most one ending of each action at a time: see ActionEndings. */
@Injectable()
export class ActionEndingsRepository {
  constructor(private readonly statements: Statements) {}

  /** A transaction of its own in one round trip. Answers those actions that it has ended. */
  async end(endings: readonly Ending[], records: ChangeRecords): Promise<Action[]> {
    const rows = await this.statements.rows<ActionRow>(END, endValues(endings, records));
    return rows.map(actionOf);
  }

  /** The same inside a transaction. */
  async endIn(tx: Tx, endings: readonly Ending[], records: ChangeRecords): Promise<Action[]> {
    const rows = await this.statements.rowsIn<ActionRow>(tx, END, endValues(endings, records));
    return rows.map(actionOf);
  }
}

function endValues(endings: readonly Ending[], records: ChangeRecords): unknown[] {
  return [
    endings.map(({ action }) => action.id),
    endings.map(({ action }) => action.fence),
    endings.map(({ result }) => statusOf(result)),
    endings.map(({ result }) => JSON.stringify(result)),
    endings.map(({ at }) => at.toISOString()),
    endings.map(({ by }) => by),
    ...records.audit,
    ...records.timeline,
    eventRows(records.events),
  ];
}

export function statusOf({ success }: ActionResult): 'completed' | 'failed' {
  return success ? 'completed' : 'failed';
}
