// SQL: the statement of an action change also inserts many entries.
import { Injectable } from '@nestjs/common';
import { OmitType } from '@nestjs/swagger';
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
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
import { type Page, PageQueryDto, sortWords } from '../../platform/paging/page.js';
import {
  Choice,
  Field,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  Text,
} from '../../platform/validation/fields.js';
import type { RowOf } from '../../platform/validation/present.js';
import { oneLine } from '../raw-data-text.js';

const SORTS = sortWords('at', 'created_at');

export class TimelineQueryDto extends PageQueryDto {
  @Choice('TimelineSort', SORTS, {
    optional: true,
    default: 'at',
    description: '`created_at` is the same as `at`.',
  })
  readonly sort: (typeof SORTS)[number] = 'at';
}

class TimelineSubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

const AnyValue = (description: string) =>
  Field({ optional: true, description }, { allOf: [{ $ref: '#/components/schemas/AnyJson' }] });

class TimelineChangeDto {
  @Text({ description: 'Name of the field.' })
  readonly field: string;

  @AnyValue('Previous value; absent if there was none.')
  readonly from?: unknown;

  @AnyValue('New value; absent if it was removed.')
  readonly to?: unknown;
}

class TimelineDetailsDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES, { optional: true })
  readonly action_type?: string;

  @Text({
    optional: true,
    description: 'Target of the action: its first parameter, cut if it is long.',
  })
  readonly target?: string;

  @JsonObject({ optional: true, description: 'Parameters of a requested action.' })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Action that this action rolls back.' })
  readonly rollback_of?: string;

  @Text({ optional: true, description: 'Reason of a request, rollback or rejection.' })
  readonly reason?: string;

  @Text({ optional: true, description: 'Comment of the approver.' })
  readonly comment?: string;

  @Text({ optional: true, description: 'Resolution, also if the incident was reopened.' })
  readonly resolution?: string;

  @NestedList(() => TimelineChangeDto, { optional: true, description: 'Fields that changed.' })
  readonly changes?: readonly TimelineChangeDto[];
}

export type TimelineDetails = TimelineDetailsDto;
export type TimelineSubject = TimelineSubjectDto;

@Entity('incident_timeline')
export class IncidentTimelineEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  @Text({
    description:
      'An open set: created, updated, triaged, resolved, reopened, severity_lowered (of a critical incident), event_updated, update_of_resolved and update_of_judged (further reports of the tool), source_resolved, severity_unknown, triage_requested (asynchronously), triage_completed, triage_failed, and events of its actions.',
  })
  @Column({ type: 'text' })
  readonly event: string;

  @Text({ description: 'Name of a principal.' })
  @Column({ type: 'text' })
  readonly actor: string;

  @Text()
  @Column({ type: 'text' })
  readonly summary: string;

  @Column({ type: 'text', nullable: true })
  readonly subject_type: string | null;

  @Column({ type: 'text', nullable: true })
  readonly subject_id: string | null;

  @Nested(() => TimelineDetailsDto, {
    optional: true,
    description: 'Facts of the entry for programs, with full texts. Absent if there are none.',
  })
  @Column({ type: 'json', nullable: true })
  readonly details: TimelineDetails | null;
}

export class TimelineEntryDto extends OmitType(IncidentTimelineEntity, [
  ...(['id', 'incident_id', 'subject_type', 'subject_id'] as const),
]) {
  @Nested(() => TimelineSubjectDto, { optional: true })
  readonly subject?: TimelineSubjectDto;
}

/** New entry of an incident. `subject` names another subject of the entry, such as an `action` or a `webhook_event`. */
export interface NewTimelineEntry extends Pick<TimelineEntryDto, 'event' | 'actor' | 'summary'> {
  readonly incidentId: string;
  readonly subject?: TimelineSubject;
  readonly details?: TimelineDetails;
}

const ROWS = new RowInsert(IncidentTimelineEntity, columnsOf(IncidentTimelineEntity, []));
export const insertTimeline = (firstParameter: number): string => ROWS.text(firstParameter);

/** Reads a page. The oldest entry, the creation of the incident, has no row. This saves an insert per incident. */
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

@Injectable()
export class IncidentTimeline {
  private readonly atCommit: RowsAtCommit<ReturnType<typeof rowOf>>;

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {
    this.atCommit = new RowsAtCommit(statements, 'timeline', ROWS);
  }

  /** Adds entries, which are inserted right before the commit. */
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
    { page, per_page, sort }: TimelineQueryDto,
  ): Promise<Page<RowOf<TimelineEntryDto>>> {
    const statement = sort.startsWith('-') ? NEWEST_FIRST : OLDEST_FIRST;
    const values = [incidentId, (page - 1) * per_page, per_page];
    const rows = isUuid(incidentId)
      ? await this.statements.rows<EntryRow & WithTotal>(statement, values)
      : [];
    if (rows.length === 0) throw new NotFoundError('Incident');
    // Summaries may contain text of attackers, in which direction marks would change how the words around it look.
    const { total, items } = pageOf(rows);
    return { total, items: items.map((row) => ({ ...row, summary: oneLine(row.summary) })) };
  }
}

function rowOf({ incidentId: incident_id, subject, ...entry }: NewTimelineEntry, at: Date) {
  const { type: subject_type, id: subject_id } = subject ?? {};
  return { ...entry, id: newId(at.getTime()), at, incident_id, subject_type, subject_id };
}

export const timelineOfCommand = (dataSource: DataSource): IncidentTimeline =>
  new IncidentTimeline(new Statements(dataSource), new Clock());
