import { Injectable } from '@nestjs/common';
import { IncidentCreation } from '../../incidents/incident-creation.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { WebhookEventEntity } from '../events/webhook-event.entity.js';
import { type ReadEvent, incidentOf } from '../reading/read-events.js';
import { entriesOfNew, EVENT_UPDATED, FurtherReports } from './further-reports.js';
import { InboxRepository, type SeenEvent } from './inbox.repository.js';
import {
  type Arrival,
  type ReadReceipt,
  type SettledEvent,
  type SettledReceipt,
  principalOf,
} from './receipt.js';

/** Maximum number of update receipts whose bytes are compared with a repetition. */
const UPDATES_COMPARED = 1_000;

type Settled = Omit<SettledEvent, 'incident_number'>;

/**
 * Settles the events of one body in the caller's transaction. A new event creates an incident. A known event with new content
 * updates its incident. A known event with known content is a duplicate and changes nothing.
 */
@Injectable()
export class Settlement {
  constructor(
    private readonly inbox: InboxRepository,
    private readonly creation: IncidentCreation,
    private readonly incidents: Incidents,
    private readonly timeline: IncidentTimeline,
    private readonly further: FurtherReports,
    private readonly events: DomainEvents,
  ) {}

  async settle(tx: Tx, { arrival, events }: ReadReceipt): Promise<SettledReceipt> {
    const by = principalOf(arrival.source);
    const wanted = events.map((event) => ({
      event,
      row: this.creation.prepare(by, incidentOf(event)),
    }));
    const ids = wanted.map(({ row }) => row.id);
    const first = await this.inbox.claimAll(tx, arrival, events, ids);
    const fresh = wanted.filter(({ row }) => first.has(row.id));
    const rows = fresh.map(({ row }) => row);
    await this.creation.insertRows(tx, rows);
    const entries = fresh.flatMap(({ event, row }) => entriesOfNew(row, event));
    await this.timeline.add(tx, ...entries);

    const repeated = wanted.filter(({ row }) => !first.has(row.id)).map(({ event }) => event);
    const rowsSeen = await this.inbox.lockSeen(tx, arrival.source, repeated);
    const seen = new Map(rowsSeen.map((row) => [nameOf(row.event_key), row]));
    const settled = new Map<ReadEvent, Settled>(
      fresh.map(({ event, row }) => [event, { outcome: 'created', incident_id: row.id }]),
    );
    const byIncident = Map.groupBy(repeated, ({ key }) => seen.get(nameOf(key))!.incident_id);
    // Locks incidents in the order of ids, so that two bodies do not deadlock.
    for (const [incident_id, again] of [...byIncident].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const updates = await this.updatesIn(tx, arrival, again, seen);
      for (const event of again) {
        const outcome = updates.has(event) ? 'updated' : 'duplicate';
        settled.set(event, { outcome, incident_id });
      }
      if (updates.size > 0) await this.further.add(tx, arrival, [...updates], incident_id);
    }
    const states = await this.incidents.statesOf(tx, [
      ...new Set([...settled.values()].map(({ incident_id }) => incident_id)),
    ]);
    const all = events.map((event): SettledEvent => {
      const { outcome, incident_id } = settled.get(event)!;
      return { outcome, incident_id, incident_number: states.get(incident_id)!.incident_number };
    });
    const isDuplicate = all.every(({ outcome }) => outcome === 'duplicate');
    if (!isDuplicate) return { arrival, events: all };
    const ofEach = events.map(({ key }) => seen.get(nameOf(key))!);
    return { arrival, events: all, repeats: await this.repeatedBy(tx, arrival, ofEach) };
  }

  /**
   * Finds the receipt with the same bytes: usually the first receipt of an event, otherwise a receipt that updated the event. If no
   * receipt has the same bytes, finds the first receipt of an event, except the arrival.
   */
  private async repeatedBy(
    tx: Tx,
    arrival: Arrival,
    seen: readonly SeenEvent[],
  ): Promise<SettledReceipt['repeats']> {
    const first = seen.map(({ event_id }) => event_id);
    const same =
      (await this.inbox.findSameBytes(tx, arrival, first)) ??
      (await this.inbox.findSameBytes(tx, arrival, await this.updatesOf(tx, seen)));
    const id = same ?? first.find((other) => other !== arrival.id);
    return id === undefined ? undefined : { id, hasBytes: same !== undefined };
  }

  private async updatesOf(tx: Tx, seen: readonly SeenEvent[]): Promise<string[]> {
    const incidents = seen.map(({ incident_id }) => incident_id);
    return await this.timeline.subjectIds(tx, incidents, EVENT_UPDATED, UPDATES_COMPARED);
  }

  private async updatesIn(
    tx: Tx,
    { source }: Arrival,
    events: readonly ReadEvent[],
    seen: ReadonlyMap<string, SeenEvent>,
  ): Promise<ReadonlySet<ReadEvent>> {
    const known = new Set(
      events.flatMap(({ key }) => seen.get(nameOf(key))!.content_hashes.map(nameOf)),
    );
    const updates = new Set<ReadEvent>();
    for (const event of events) {
      const content = nameOf(event.contentHash);
      if (known.has(content)) continue;
      known.add(content);
      updates.add(event);
      await this.inbox.addContent(tx, source, event);
    }
    return updates;
  }

  async keepFailed(tx: Tx, arrival: Arrival, error: string): Promise<string> {
    const isFirst = !(await this.inbox.hasRecentFailure(tx, arrival.source));
    const id = await this.inbox.keepFailed(tx, arrival, error);
    if (isFirst) await this.recordFailure(tx, { id, source: arrival.source }, error);
    return id;
  }

  /** Notifies the first failure of the source after the quiet period. */
  async notifyFailure(tx: Tx, event: Failed, error: string): Promise<void> {
    if (!(await this.inbox.hasRecentFailure(tx, event.source)))
      await this.recordFailure(tx, event, error);
  }

  private async recordFailure(tx: Tx, { id, source }: Failed, error: string): Promise<void> {
    const subject = { type: 'webhook_event', id };
    const payload = { source, error };
    await this.events.record(tx, { type: 'webhook_event.failed', subject, payload });
  }
}

type Failed = Pick<WebhookEventEntity, 'id' | 'source'>;

function nameOf(key: Buffer): string {
  return key.toString('base64');
}
