import { Injectable } from '@nestjs/common';
import { IncidentCreation } from '../../incidents/incident-creation.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ReadEvent } from '../reading/read-events.js';
import { EVENT_UPDATED, FurtherReports } from './further-reports.js';
import { type Claim, InboxRepository, type SeenEvent } from './inbox.repository.js';
import {
  type Arrival,
  type EarlierReceipt,
  principalOf,
  type ReadReceipt,
  type SettledEvent,
  type SettledReceipt,
} from './receipt.js';
import { unknownSeverityEntries } from './unknown-severity.js';

/** Of so many receipts that changed the incidents the bytes are compared with those of a repetition. */
const UPDATES_COMPARED = 1_000;

type Settled = Omit<SettledEvent, 'incidentNumber'>;

/**
 * Makes of the events of one body what becomes of them, in the caller's transaction: incidents of those that are new,
 * updates of incidents where the sender's id is known and the content is not, and nothing where both are.
 */
@Injectable()
export class Settlement {
  constructor(
    private readonly inbox: InboxRepository,
    private readonly creation: IncidentCreation,
    private readonly incidents: IncidentsService,
    private readonly timeline: IncidentTimeline,
    private readonly further: FurtherReports,
  ) {}

  async settle(tx: Tx, { arrival, events }: ReadReceipt): Promise<SettledReceipt> {
    const by = principalOf(arrival.source);
    const wanted = events.map((event) => ({
      event,
      row: this.creation.prepare(by, event.incident),
    }));
    const claims = wanted.map(({ event, row }): Claim => ({ event, incidentId: row.id }));
    const first = await this.inbox.claimAll(tx, arrival, claims);

    const fresh = wanted.filter(({ row }) => first.has(row.id));
    await this.creation.insertRows(
      tx,
      fresh.map(({ row }) => row),
    );
    await this.timeline.add(
      tx,
      ...fresh.flatMap(({ event, row }) => unknownSeverityEntries(row.id, by, event)),
    );

    const repeated = wanted.filter(({ row }) => !first.has(row.id)).map(({ event }) => event);
    const seen = await this.seenOf(tx, arrival.source, repeated);
    const settled = new Map<ReadEvent, Settled>(
      fresh.map(({ event, row }) => [event, { outcome: 'created', incidentId: row.id }]),
    );
    for (const event of inOrderOfIncidents(repeated, seen)) {
      settled.set(event, await this.repeat(tx, arrival, event, seen.get(nameOf(event.key))!));
    }
    const all = await this.withNumbers(
      tx,
      events.map((event) => settled.get(event)!),
    );
    const isDuplicate = all.every(({ outcome }) => outcome === 'duplicate');
    if (!isDuplicate) return { arrival, events: all };
    const ofEach = events.map(({ key }) => seen.get(nameOf(key))!);
    return { arrival, events: all, repeats: await this.repeatedBy(tx, arrival, ofEach) };
  }

  /** Usually a first receipt has the same bytes; else one that brought other content later may have them. */
  private async repeatedBy(
    tx: Tx,
    arrival: Arrival,
    seen: readonly SeenEvent[],
  ): Promise<EarlierReceipt> {
    const first = seen.map(({ event_id }) => event_id);
    const id =
      (await this.inbox.findSameBytes(tx, arrival, first)) ??
      (await this.inbox.findSameBytes(tx, arrival, await this.updatesOf(tx, seen)));
    return id === undefined ? { id: first[0]!, hasBytes: false } : { id, hasBytes: true };
  }

  private async updatesOf(tx: Tx, seen: readonly SeenEvent[]): Promise<string[]> {
    const incidents = seen.map(({ incident_id }) => incident_id);
    return await this.timeline.subjectIds(tx, incidents, EVENT_UPDATED, UPDATES_COMPARED);
  }

  private async seenOf(tx: Tx, source: string, events: readonly ReadEvent[]) {
    const rows = events.length > 0 ? await this.inbox.lockSeen(tx, source, events) : [];
    return new Map(rows.map((row) => [nameOf(row.event_key), row]));
  }

  private async repeat(
    tx: Tx,
    arrival: Arrival,
    event: ReadEvent,
    seen: SeenEvent,
  ): Promise<Settled> {
    const incidentId = seen.incident_id;
    if (seen.content_hashes.some((hash) => hash.equals(event.contentHash))) {
      return { outcome: 'duplicate', incidentId };
    }
    await this.inbox.addContent(tx, arrival.source, event);
    await this.further.add(tx, arrival, event, incidentId);
    return { outcome: 'updated', incidentId };
  }

  private async withNumbers(tx: Tx, settled: readonly Settled[]): Promise<SettledEvent[]> {
    const ids = settled.map(({ incidentId }) => incidentId);
    const numbers = await this.incidents.numbersOf(tx, ids);
    return settled.map((one) => ({ ...one, incidentNumber: numbers.get(one.incidentId)! }));
  }
}

/** Incidents are locked in the order of their ids, so that two bodies never wait for each other in a circle. */
function inOrderOfIncidents(
  events: readonly ReadEvent[],
  seen: ReadonlyMap<string, SeenEvent>,
): ReadEvent[] {
  const incidentOf = ({ key }: ReadEvent): string => seen.get(nameOf(key))!.incident_id;
  return events.toSorted((one, other) => (incidentOf(one) < incidentOf(other) ? -1 : 1));
}

function nameOf(key: Buffer): string {
  return key.toString('base64');
}
