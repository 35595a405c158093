// SQL: every action pays for its end, and it is one statement for all that end together, with all that is recorded of it.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/timeline-entry.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';
import { type Action, type ActionResult, shownActionId } from '../action.js';
import { type ActionChanged, ActionRecorder } from '../records/action-recorder.js';
import type { ChangeRecords } from '../records/action-records.repository.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from '../records/action.entity.js';
import { endOf } from './execution-rules.js';
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

/**
 * Ends actions and records their ends. The end of a run that lost its claim changes nothing: the fence shows it. Endings that arrive
 * together are one statement, which is its own transaction.
 */
@Injectable()
export class ActionEndings {
  private readonly batches = new Batcher<Ending, Action | undefined>((endings) =>
    this.endAll(endings),
  );

  constructor(
    private readonly statements: Statements,
    private readonly recorder: ActionRecorder,
  ) {}

  /** Returns the ended action, or `undefined` if the run had lost its claim. */
  async end(ending: Ending): Promise<Action | undefined> {
    return await this.batches.submit(ending);
  }

  /** Ends the action in a transaction in which others take part. */
  async endIn(tx: Tx, ending: Ending): Promise<Action | undefined> {
    return (await this.endAll([ending], tx))[0];
  }

  private async endAll(endings: readonly Ending[], tx?: Tx): Promise<(Action | undefined)[]> {
    const latest = latestOf(endings);
    const records = this.recorder.recordsOf(latest.map(changeOf));
    const values = endValues(latest, records);
    const rows = tx
      ? await this.statements.rowsIn<ActionRow>(tx, END, values)
      : await this.statements.rows<ActionRow>(END, values);
    const ended = new Map(rows.map(actionOf).map((action) => [action.id, action]));
    const done = latest.filter(({ action }) => ended.has(action.id));
    const tell = () => this.recorder.recorded(records, done.map(changeOf));
    if (!tx) tell();
    else if (done.length > 0) afterCommit(tx, tell);
    return endings.map((ending) =>
      done.includes(ending) ? ended.get(ending.action.id) : undefined,
    );
  }
}

function endValues(endings: readonly Ending[], records: ChangeRecords): unknown[] {
  return [
    endings.map(({ action }) => action.id),
    endings.map(({ action }) => action.fence),
    endings.map(({ result }) => endOf(result)),
    endings.map(({ result }) => JSON.stringify(result)),
    endings.map(({ at }) => at.toISOString()),
    endings.map(({ by }) => by),
    ...records.audit,
    ...records.timeline,
    eventRows(records.events),
  ];
}

/** One of each action: where a later run is known, an earlier one does not count any more. */
export function latestOf(endings: readonly Ending[]): Ending[] {
  const latest = new Map<string, Ending>();
  for (const ending of endings) {
    const { id, fence } = ending.action;
    const other = latest.get(id);
    if (!other || other.action.fence < fence) latest.set(id, ending);
  }
  return [...latest.values()];
}

/** What is recorded: the action as it is when it has ended. */
function changeOf({ action, result, by, at }: Ending): ActionChanged {
  const status = endOf(result);
  const ended = { ...action, status, result, executed_by: by, executed_at: at };
  return { change: status, actor: by, action: ended };
}
