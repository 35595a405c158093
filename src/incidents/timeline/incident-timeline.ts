import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { newId } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import type { Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { TimelineEntry, NewTimelineEntry, TimelineRequest } from './timeline-entry.js';
import { timelineValues } from './timeline-insert.js';
import { TimelineRepository } from './timeline.repository.js';

/** Whichever module changes something about an incident tells it here, in the transaction of the change. */
@Injectable()
export class IncidentTimeline {
  constructor(
    private readonly repository: TimelineRepository,
    private readonly clock: Clock,
  ) {}

  async add(tx: Tx, ...news: readonly NewTimelineEntry[]): Promise<void> {
    if (news.length > 0) await this.repository.insert(tx, this.valuesOf(news));
  }

  /** The parameters of `insertTimeline`, for a hot path that tells it in the statement of its change. */
  valuesOf(news: readonly NewTimelineEntry[]): unknown[] {
    const at = this.clock.now();
    return timelineValues(news.map((entry) => ({ ...entry, id: newId(at.getTime()), at })));
  }

  /** The oldest first, unless asked otherwise; the creation is always the oldest of all. */
  async page(incidentId: string, request: TimelineRequest): Promise<Page<TimelineEntry>> {
    const page = await this.repository.page(incidentId, request);
    if (!page) throw new NotFoundError('Incident');
    return page;
  }
}
