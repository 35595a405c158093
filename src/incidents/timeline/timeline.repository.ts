import { Injectable } from '@nestjs/common';
import type { Page } from '../../platform/paging/page.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { TimelineEntry, TimelineRequest } from './timeline-entry.js';
import { insertTimeline } from './timeline-insert.js';

const INSERT: Statement = { name: 'incident_timeline_insert', text: insertTimeline() };

/** The creation is told by the incident itself, which spares every creation a row. */
const pageStatement = (order: 'asc' | 'desc'): Statement => ({
  name: `incident_timeline_page_${order}`,
  text: `
    with incident as materialized (
      select id, created_at, created_by, source from incidents where id = $1 and deleted_at is null),
    entries as (
      select id, created_at as at, 'created' as event, created_by as actor,
             'Created from ' || source || '.' as summary, null as subject_type, null as subject_id, 0 as rank
        from incident
      union all
      select t.id, at, event, actor, summary, subject_type, subject_id, 1
        from incident join incident_timeline t on t.incident_id = incident.id),
    page as (select * from entries order by rank ${order}, id ${order} offset $2 limit $3)
    select (select count(*) from entries) as total, page.*
      from incident left join page on true order by rank ${order}, page.id ${order}`,
});

const OLDEST_FIRST = pageStatement('asc');
const NEWEST_FIRST = pageStatement('desc');

interface EntryRow {
  readonly total: string;
  readonly at: Date;
  readonly event: string | null;
  readonly actor: string;
  readonly summary: string;
  readonly subject_type: string | null;
  readonly subject_id: string | null;
}

@Injectable()
export class TimelineRepository {
  constructor(private readonly statements: Statements) {}

  /** @param values see timelineValues */
  async insert(tx: Tx, values: unknown[]): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, values);
  }

  /** Undefined when there is no such incident. */
  async page(
    incidentId: string,
    request: TimelineRequest,
  ): Promise<Page<TimelineEntry> | undefined> {
    const offset = (request.page - 1) * request.per_page;
    const statement = request.newestFirst ? NEWEST_FIRST : OLDEST_FIRST;
    const values = [incidentId, offset, request.per_page];
    const rows = await this.statements.rows<EntryRow>(statement, values);
    const [first] = rows;
    if (!first) return undefined;
    return { total: Number(first.total), items: rows.flatMap(entryOf) };
  }
}

/** A page past the end is one row without an entry. */
function entryOf(row: EntryRow): TimelineEntry[] {
  if (row.event === null) return [];
  const { at, event, actor, summary, subject_type: type, subject_id: id } = row;
  return [
    { at, event, actor, summary, ...(type !== null && id !== null && { subject: { type, id } }) },
  ];
}
