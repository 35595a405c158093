// SQL for the insertion, which the statement of a change of an action contains, too.
import { Injectable } from '@nestjs/common';
import { type EntityManager, In, IsNull, Not } from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page } from '../../platform/paging/page.js';
import { IncidentEntity } from '../records/incident.entity.js';
import { IncidentTimelineEntity } from './incident-timeline.entity.js';
import { oneLine } from '../title-text.js';
import type { TimelineEntry, TimelineRequest } from './timeline-entry.js';
import { insertTimeline } from './timeline-insert.js';

const INSERT: Statement = { name: 'incident_timeline_insert', text: insertTimeline() };

@Injectable()
export class TimelineRepository {
  constructor(private readonly statements: Statements) {}

  /** @param values see timelineValues */
  async insert(tx: Tx, values: unknown[]): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, values);
  }

  /** What the newest entries of that kind are about. */
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

  /** Undefined when there is no such incident. The page and the total are of one moment in a snapshot. */
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
    // The creation is the oldest entry and has no row, which spares every creation an insertion.
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

/** Many summaries hold words of strangers: what those hide, or turn round, would change our words beside them. */
function entryOf(row: IncidentTimelineEntity): TimelineEntry {
  const { at, event, actor, subject_type: type, subject_id: id } = row;
  const subject = type !== null && id !== null ? { type, id } : undefined;
  const summary = oneLine(row.summary);
  return { at, event, actor, summary, subject, details: row.details ?? undefined };
}
