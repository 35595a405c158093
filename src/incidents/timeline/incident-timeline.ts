// SQL: the insert of many entries is also part of the statement of an action change.
import { Injectable } from '@nestjs/common';
import {
  Check,
  Column,
  type DataSource,
  type EntityManager,
  Entity,
  ForeignKey,
  In,
  Index,
  IsNull,
  Not,
  PrimaryColumn,
} from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { columnsOf } from '../../platform/database/columns.js';
import { RowInsert, type Statement, Statements } from '../../platform/database/statements.js';
import { RowsAtCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type {
  TimelineDetailsDto,
  TimelineEntryDto,
  TimelineSubjectDto,
} from '../dto/history.dto.js';
import { IncidentEntity } from '../incident.js';
import { oneLine } from '../raw-data-text.js';

export type TimelineDetails = TimelineDetailsDto;
export type TimelineSubject = TimelineSubjectDto;

@Entity('incident_timeline')
@Check('ck_incident_timeline_subject', `(subject_type is null) = (subject_id is null)`)
@Index('ix_incident_timeline_incident', ['incident_id', 'id'])
@Index('ix_incident_timeline_updates_left', ['id'], {
  where: `event in ('update_of_resolved', 'update_of_judged')`,
})
export class IncidentTimelineEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_timeline' })
  readonly id: string;

  @Column({ type: 'uuid' })
  @ForeignKey(() => IncidentEntity, { name: 'fk_incident_timeline_incident' })
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

export type TimelineEntry = TimelineEntryDto;

/** `subject` is a second subject, of a type such as `action`, `triage` or `webhook_event`. */
export interface NewTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly incidentId: string;
}

const ROWS = new RowInsert(IncidentTimelineEntity, columnsOf(IncidentTimelineEntity, []));
/** Number of parameters of `insertTimeline`. */
export const TIMELINE_PARAMETERS = ROWS.parameters;
export const insertTimeline = (firstParameter: number): string => ROWS.text(firstParameter);

const INSERT: Statement = { name: 'incident_timeline_insert', text: ROWS.text() };

/** Modules add entries in the transaction of their change. */
@Injectable()
export class IncidentTimeline {
  private readonly atCommit = new RowsAtCommit<IncidentTimelineEntity>(async (tx, rows) => {
    await this.statements.rowsIn(tx, INSERT, ROWS.values(rows));
  });

  constructor(
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Written right before the commit. */
  async add(tx: Tx, ...entries: readonly NewTimelineEntry[]): Promise<void> {
    this.atCommit.add(tx, rowsOf(entries, this.clock.now()));
  }

  /** Parameters of `insertTimeline`, for hot paths that insert entries in the statement of their change. */
  valuesOf(entries: readonly NewTimelineEntry[], at = this.clock.now()): unknown[] {
    return ROWS.values(rowsOf(entries, at));
  }

  /** Subject ids of the newest `limit` entries with this event, such as the receipts that changed these incidents. */
  async subjectIds(
    tx: Tx,
    incidentIds: readonly string[],
    event: string,
    limit: number,
  ): Promise<string[]> {
    await this.atCommit.flush(tx);
    const entries = await tx.getRepository(IncidentTimelineEntity).find({
      select: { subject_id: true },
      where: { incident_id: In(incidentIds), event, subject_id: Not(IsNull()) },
      order: { id: 'DESC' },
      take: limit,
    });
    return entries.flatMap(({ subject_id: id }) => id ?? []);
  }

  /** Whether a person has changed the title. */
  async hasTitleByPerson(tx: Tx, incidentId: string): Promise<boolean> {
    await this.atCommit.flush(tx);
    return await tx
      .createQueryBuilder(IncidentTimelineEntity, 'entry')
      .where({ incident_id: incidentId, event: 'updated' })
      .andWhere(`entry.actor !~ '^(webhook:|playbook:|system$)'`)
      .andWhere(`entry.details::jsonb @> '{"changes": [{"field": "title"}]}'`)
      .getExists();
  }

  /** Page and total come from one snapshot. */
  async page(
    incidentId: string,
    request: PageRequest,
    newestFirst: boolean,
  ): Promise<Page<TimelineEntry>> {
    if (!isUuid(incidentId)) throw new NotFoundError('Incident');
    return await this.transactions.snapshot((snapshot) =>
      pageIn(snapshot, incidentId, request, newestFirst),
    );
  }
}

function rowsOf(entries: readonly NewTimelineEntry[], at: Date): IncidentTimelineEntity[] {
  return entries.map(({ incidentId: incident_id, subject, details = null, ...entry }) => {
    const { type: subject_type = null, id: subject_id = null } = subject ?? {};
    return {
      ...entry,
      id: newId(at.getTime()),
      at,
      incident_id,
      subject_type,
      subject_id,
      details,
    };
  });
}

/** The creation of the incident is the oldest entry and has no row, which saves an insert per incident. */
async function pageIn(
  snapshot: EntityManager,
  incidentId: string,
  { page, per_page }: PageRequest,
  newestFirst: boolean,
): Promise<Page<TimelineEntry>> {
  const incident = await snapshot.getRepository(IncidentEntity).findOne({
    select: { id: true, created_at: true, created_by: true, source: true },
    where: { id: incidentId, deleted_at: IsNull() },
  });
  if (!incident) throw new NotFoundError('Incident');
  const timeline = snapshot.getRepository(IncidentTimelineEntity);
  const stored = await timeline.countBy({ incident_id: incidentId });
  const place = newestFirst ? stored : 0;
  const first = (page - 1) * per_page;
  const showsCreation = place >= first && place < first + per_page;
  const rows = await timeline.find({
    where: { incident_id: incidentId },
    order: { id: newestFirst ? 'DESC' : 'ASC' },
    skip: newestFirst ? first : Math.max(first - 1, 0),
    take: per_page,
  });
  const entries = rows.map(entryOf);
  const creation = showsCreation ? [creationOf(incident)] : [];
  const items = newestFirst ? [...entries, ...creation] : [...creation, ...entries];
  return { total: stored + 1, items: items.slice(0, per_page) };
}

function creationOf({ created_at, created_by, source }: IncidentEntity): TimelineEntry {
  const summary = oneLine(`Created from ${source}.`);
  return { at: created_at, event: 'created', actor: created_by, summary };
}

/** Summaries may contain text of attackers. Hidden characters and direction marks in it would change our words. */
function entryOf(row: IncidentTimelineEntity): TimelineEntry {
  const { at, event, actor, subject_type: type, subject_id: id } = row;
  const subject = type !== null && id !== null ? { type, id } : undefined;
  const summary = oneLine(row.summary);
  return { at, event, actor, summary, subject, details: row.details ?? undefined };
}

/** Timeline for an operator command. */
export function timelineOfCommand(dataSource: DataSource): IncidentTimeline {
  return new IncidentTimeline(
    new Statements(dataSource),
    new Transactions(dataSource),
    new Clock(),
  );
}
