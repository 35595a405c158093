import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import type { Page, PageRequest } from '../../common/paging/page.js';
import type { Tx } from '../../database/transactions.js';
import { NotFoundError } from '../../common/errors/app-error.js';
import { timelineValues } from './timeline-insert.js';
import { TimelineRepository } from './timeline.repository.js';

export interface TimelineSubject {
  /** Such as `action`, `triage`, `webhook_event`. */
  readonly type: string;
  readonly id: string;
}

/** What happened to an incident, in the words that its readers see. */
export interface TimelineNews {
  readonly incidentId: string;
  /** In the past tense: `updated`, `triaged`, `action_requested`. */
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
}

export interface TimelineEntry {
  readonly at: Date;
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
}

export interface TimelineRequest extends PageRequest {
  readonly newestFirst?: boolean;
}

/** Whichever module changes something about an incident tells it here, in the transaction of the change. */
@Injectable()
export class IncidentTimeline {
  constructor(
    private readonly repository: TimelineRepository,
    private readonly clock: Clock,
  ) {}

  async add(tx: Tx, ...news: readonly TimelineNews[]): Promise<void> {
    if (news.length > 0) await this.repository.insert(tx, this.valuesOf(news));
  }

  /** The parameters of `insertTimeline`, for a hot path that tells it in the statement of its change. */
  valuesOf(news: readonly TimelineNews[]): unknown[] {
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
