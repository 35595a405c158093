import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Statements } from '../../platform/database/statements.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import type { NewTimelineEntry, TimelineEntry, TimelineRequest } from './timeline-entry.js';
import { timelineValues } from './timeline-insert.js';
import { TimelineRepository } from './timeline.repository.js';
import type { DataSource } from 'typeorm';

/** A module that changes something about an incident adds an entry here, in the transaction of the change. */
@Injectable()
export class IncidentTimeline {
  /** When the last entry of a transaction was made: what it adds later is not before that, should the clock be set back. */
  private readonly latest = new WeakMap<Tx, Date>();

  constructor(
    private readonly repository: TimelineRepository,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  async add(tx: Tx, ...entries: readonly NewTimelineEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const [now, latest] = [this.clock.now(), this.latest.get(tx)];
    const at = latest && latest > now ? latest : now;
    this.latest.set(tx, at);
    await this.repository.insert(tx, this.valuesOf(entries, at));
  }

  /** The parameters of `insertTimeline`, for a hot path that inserts the entries in the statement of its change. */
  valuesOf(entries: readonly NewTimelineEntry[], at = this.clock.now()): unknown[] {
    return timelineValues(entries.map((entry) => ({ ...entry, id: newId(at.getTime()), at })));
  }

  /** What the newest `limit` entries of one kind are about, such as the receipts that changed these incidents. */
  async subjectIds(
    tx: Tx,
    incidentIds: readonly string[],
    event: string,
    limit: number,
  ): Promise<string[]> {
    return await this.repository.subjectIds(tx, incidentIds, event, limit);
  }

  /** The oldest first, unless the newest are asked for; the creation is always the oldest of all. */
  async page(incidentId: string, request: TimelineRequest): Promise<Page<TimelineEntry>> {
    const page = await this.transactions.snapshot((snapshot) =>
      this.repository.page(snapshot, incidentId, request),
    );
    if (!page) throw new NotFoundError('Incident');
    return page;
  }
}

/** For a command that an operator runs. */
export function timelineOfCommand(dataSource: DataSource): IncidentTimeline {
  const repository = new TimelineRepository(new Statements(dataSource));
  return new IncidentTimeline(repository, new Transactions(dataSource), new Clock());
}
