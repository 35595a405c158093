// SQL for the insert, which is also part of the statement of an action change.
import { Injectable } from '@nestjs/common';
import { type EntityManager, In, IsNull, Not, type DataSource } from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { type Tx, Transactions, RowsAtCommit } from '../../platform/database/transactions.js';
import type { Page } from '../../platform/paging/page.js';
import { IncidentEntity } from '../incident.js';
import { IncidentTimelineEntity } from '../records/incident.entity.js';
import { oneLine } from '../raw-data-text.js';
import {
  type TimelineEntry,
  type TimelineRequest,
  insertTimeline,
  type NewTimelineEntry,
  type TimelineRow,
  timelineValues,
} from './timeline-entry.js';
import { Clock } from '../../platform/clock.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';

const INSERT: Statement = { name: 'incident_timeline_insert', text: insertTimeline() };

@Injectable()
export class TimelineRepository {
  constructor(private readonly statements: Statements) {}

  /** @param values see timelineValues */
  async insert(tx: Tx, values: unknown[]): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, values);
  }

  /** Subject ids of the newest entries with this event. */
  async subjectIds(
    tx: Tx,
    incidentIds: readonly string[],
    event: string,
    limit: number,
  ): Promise<string[]> {
    const entries = await tx.getRepository(IncidentTimelineEntity).find({
      select: { subject_id: true },
      where: { incident_id: In(incidentIds), event, subject_id: Not(IsNull()) },
      order: { id: 'DESC' },
      take: limit,
    });
    return entries.flatMap(({ subject_id: id }) => (id === null ? [] : [id]));
  }

  async hasTitleByPerson(tx: Tx, incidentId: string): Promise<boolean> {
    return await tx
      .createQueryBuilder(IncidentTimelineEntity, 'entry')
      .where({ incident_id: incidentId, event: 'updated' })
      .andWhere(`entry.actor !~ '^(webhook:|playbook:|system$)'`)
      .andWhere(`entry.details::jsonb @> '{"changes": [{"field": "title"}]}'`)
      .getExists();
  }

  /** `undefined` if the incident does not exist. Page and total come from one snapshot. */
  async page(
    snapshot: EntityManager,
    incidentId: string,
    { page, per_page, newestFirst = false }: TimelineRequest,
  ): Promise<Page<TimelineEntry> | undefined> {
    const incident = await snapshot.getRepository(IncidentEntity).findOne({
      select: { id: true, created_at: true, created_by: true, source: true },
      where: { id: incidentId, deleted_at: IsNull() },
    });
    if (!incident) return undefined;
    const timeline = snapshot.getRepository(IncidentTimelineEntity);
    const stored = await timeline.countBy({ incident_id: incidentId });
    // The creation is the oldest entry and has no row, which saves an insert per incident.
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
}

function creationOf(
  incident: Pick<IncidentEntity, 'created_at' | 'created_by' | 'source'>,
): TimelineEntry {
  return {
    at: incident.created_at,
    event: 'created',
    actor: incident.created_by,
    summary: oneLine(`Created from ${incident.source}.`),
  };
}

/** Summaries may contain text of attackers. Hidden characters and direction marks in it would change our words. */
function entryOf(row: IncidentTimelineEntity): TimelineEntry {
  const { at, event, actor, subject_type: type, subject_id: id } = row;
  const subject = type !== null && id !== null ? { type, id } : undefined;
  const summary = oneLine(row.summary);
  return { at, event, actor, summary, subject, details: row.details ?? undefined };
}

/** Modules add entries in the transaction of their change. */
@Injectable()
export class IncidentTimeline {
  /** Time of the last entry per transaction. Later entries are not earlier, even if the clock is set back. */
  private readonly latest = new WeakMap<Tx, Date>();
  private readonly atCommit = new RowsAtCommit<TimelineRow>((tx, rows) =>
    this.repository.insert(tx, timelineValues(rows)),
  );

  constructor(
    private readonly repository: TimelineRepository,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Written right before the commit. */
  async add(tx: Tx, ...entries: readonly NewTimelineEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const [now, latest] = [this.clock.now(), this.latest.get(tx)];
    const at = latest && latest > now ? latest : now;
    this.latest.set(tx, at);
    this.atCommit.add(tx, rowsOf(entries, at));
  }

  /** Parameters of `insertTimeline`, for hot paths that insert entries in the statement of their change. */
  valuesOf(entries: readonly NewTimelineEntry[], at = this.clock.now()): unknown[] {
    return timelineValues(rowsOf(entries, at));
  }

  /** Subject ids of the newest `limit` entries with this event, such as the receipts that changed these incidents. */
  async subjectIds(
    tx: Tx,
    incidentIds: readonly string[],
    event: string,
    limit: number,
  ): Promise<string[]> {
    await this.atCommit.flush(tx);
    return await this.repository.subjectIds(tx, incidentIds, event, limit);
  }

  /** Whether a person has changed the title. */
  async hasTitleByPerson(tx: Tx, incidentId: string): Promise<boolean> {
    await this.atCommit.flush(tx);
    return await this.repository.hasTitleByPerson(tx, incidentId);
  }

  /** Oldest first, unless `newestFirst`. The creation is always the oldest entry. */
  async page(incidentId: string, request: TimelineRequest): Promise<Page<TimelineEntry>> {
    const page = await this.transactions.snapshot((snapshot) =>
      this.repository.page(snapshot, incidentId, request),
    );
    if (!page) throw new NotFoundError('Incident');
    return page;
  }
}

function rowsOf(entries: readonly NewTimelineEntry[], at: Date): TimelineRow[] {
  return entries.map((entry) => ({ ...entry, id: newId(at.getTime()), at }));
}

/** Timeline for an operator command. */
export function timelineOfCommand(dataSource: DataSource): IncidentTimeline {
  const repository = new TimelineRepository(new Statements(dataSource));
  return new IncidentTimeline(repository, new Transactions(dataSource), new Clock());
}
