// SQL: the insert of many entries is also part of the statement of an action change.
import { Injectable } from '@nestjs/common';
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { pageOf, type WithTotal } from '../../platform/counting/counted-list.js';
import { columnsOf } from '../../platform/database/columns.js';
import {
  RowInsert,
  RowsAtCommit,
  type Statement,
  Statements,
} from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type { RowOf } from '../../platform/validation/present.js';
import type {
  TimelineDetailsDto,
  TimelineEntryDto,
  TimelineSubjectDto,
} from '../dto/history.dto.js';
import { oneLine } from '../raw-data-text.js';

export type TimelineDetails = TimelineDetailsDto;
export type TimelineSubject = TimelineSubjectDto;

@Entity('incident_timeline')
export class IncidentTimelineEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  /** Event name in the past tense: `updated`, `triaged`, `action_requested`. */
  @Column({ type: 'text' })
  readonly event: string;

  @Column({ type: 'text' })
  readonly actor: string;

  @Column({ type: 'text' })
  readonly summary: string;

  @Column({ type: 'text', nullable: true })
  readonly subject_type: string | null;

  @Column({ type: 'text', nullable: true })
  readonly subject_id: string | null;

  @Column({ type: 'json', nullable: true })
  readonly details: TimelineDetails | null;
}

/** `subject` is a second subject of a type such as `action`, `triage` or `webhook_event`. */
export interface NewTimelineEntry extends Omit<TimelineEntryDto, 'at'> {
  readonly incidentId: string;
}

const ROWS = new RowInsert(IncidentTimelineEntity, columnsOf(IncidentTimelineEntity, []));
export const insertTimeline = (firstParameter: number): string => ROWS.text(firstParameter);

/** Reads a page. The creation of the incident is the oldest entry and has no row, which saves an insert per incident. */
const pageBy = (direction: 'asc' | 'desc'): Statement => ({
  name: `incident_timeline_page_${direction}`,
  text: `
    select (select count(*) + 1 from incident_timeline where incident_id = $1) as total, page.*
      from incidents
      left join lateral (
        select '00000000-0000-0000-0000-000000000000'::uuid as id, created_at as at, 'created' as event, created_by as actor,
               'Created from ' || source || '.' as summary, null::json as subject, null::json as details
        union all
        select id, at, event, actor, summary,
               case when subject_id is not null then json_build_object('type', subject_type, 'id', subject_id) end, details
          from incident_timeline where incident_id = $1
         order by id ${direction} offset $2 limit $3) as page on true
     where incidents.id = $1 and deleted_at is null
     order by page.id ${direction}`,
});
const [OLDEST_FIRST, NEWEST_FIRST] = [pageBy('asc'), pageBy('desc')];

type EntryRow = RowOf<TimelineEntryDto> & Pick<IncidentTimelineEntity, 'id'>;

const TITLE_BY_PERSON: Statement = {
  name: 'incident_timeline_title_by_person',
  text: `
    select from incident_timeline
     where incident_id = $1 and event = 'updated' and actor !~ '^(webhook:|playbook:|system$)'
       and details::jsonb @> '{"changes": [{"field": "title"}]}' limit 1`,
};

/** Stores the timeline. Modules add entries in the transaction of their change. */
@Injectable()
export class IncidentTimeline {
  private readonly atCommit: RowsAtCommit<ReturnType<typeof rowOf>>;

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {
    this.atCommit = new RowsAtCommit(statements, 'timeline', ROWS);
  }

  /** Inserts the entries right before the commit. */
  async add(tx: Tx, ...entries: readonly NewTimelineEntry[]): Promise<void> {
    const at = this.clock.now();
    this.atCommit.add(
      tx,
      entries.map((entry) => rowOf(entry, at)),
    );
  }

  /** Parameters of `insertTimeline`, for hot paths that insert entries in the statement of their change. */
  valuesOf(entries: readonly NewTimelineEntry[], at = this.clock.now()): unknown[] {
    return ROWS.values(entries.map((entry) => rowOf(entry, at)));
  }

  async hasTitleByPerson(tx: Tx, incidentId: string): Promise<boolean> {
    await this.atCommit.flush(tx);
    return (await this.statements.rowsIn(tx, TITLE_BY_PERSON, [incidentId])).length > 0;
  }

  async page(
    incidentId: string,
    { page, per_page }: PageRequest,
    newestFirst: boolean,
  ): Promise<Page<RowOf<TimelineEntryDto>>> {
    const statement = newestFirst ? NEWEST_FIRST : OLDEST_FIRST;
    const values = [incidentId, (page - 1) * per_page, per_page];
    const rows = isUuid(incidentId)
      ? await this.statements.rows<EntryRow & WithTotal>(statement, values)
      : [];
    if (rows.length === 0) throw new NotFoundError('Incident');
    // Summaries may contain text of attackers. Hidden characters and direction marks would change the words around that text.
    const { total, items } = pageOf(rows);
    return { total, items: items.map((row) => ({ ...row, summary: oneLine(row.summary) })) };
  }
}

function rowOf({ incidentId: incident_id, subject, ...entry }: NewTimelineEntry, at: Date) {
  const { type: subject_type, id: subject_id } = subject ?? {};
  return { ...entry, id: newId(at.getTime()), at, incident_id, subject_type, subject_id };
}

/** Timeline for an operator command. */
export const timelineOfCommand = (dataSource: DataSource): IncidentTimeline =>
  new IncidentTimeline(new Statements(dataSource), new Clock());
