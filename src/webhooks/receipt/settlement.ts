// SQL: `on conflict` and locks in one order, so that concurrent transactions neither fail nor deadlock.
import { Injectable } from '@nestjs/common';
import { IncidentCreation } from '../../incidents/incident-creation.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { WebhookSeenEventEntity } from '../events/webhook-event.entity.js';
import { incidentOf, type ReadEvent } from '../reading/read-events.js';
import { entriesOfNew, FurtherReports } from './further-reports.js';
import { type Arrival, principalOf, type SettledEvent, type SettledEvents } from './receipt.js';

/** Claims the events of a receipt, each with the id of its incident. Waits for other transactions that claim the same events. */
const CLAIM: Statement = {
  name: 'webhook_seen_events_claim',
  text: `
    insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
    select $1, event_key, array[content_hash], $2, incident_id
      from unnest($3::bytea[], $4::bytea[], $5::uuid[]) as claim (event_key, content_hash, incident_id)
     order by event_key
    on conflict do nothing
    returning incident_id`,
};

const LOCK_SEEN: Statement = {
  name: 'webhook_seen_events_lock',
  text: `
    select event_key, content_hashes, event_id, incident_id from webhook_seen_events
     where source = $1 and event_key = any($2::bytea[]) order by event_key for no key update`,
};

/** Maximum number of contents per event. A sender that increments a counter would add a content with each event. */
const MOST_CONTENTS = 100;

const ADD_CONTENTS: Statement = {
  name: 'webhook_seen_events_add_contents',
  text: `
    update webhook_seen_events
       set content_hashes = (content_hashes || $3::bytea[])[greatest(1, cardinality(content_hashes) + cardinality($3::bytea[]) + 1 - ${MOST_CONTENTS}):]
     where source = $1 and event_key = $2`,
};

/** Maximum number of receipts that updated an event, whose bytes are compared. */
const UPDATES_COMPARED = 1_000;

/** Finds the receipt with the same bytes: the first receipt of an event, or a receipt that updated the event. */
const FIND_SAME_BYTES: Statement = {
  name: 'webhook_events_same_bytes',
  text: `
    select id from webhook_events
     where body_hash = $1 and body is not null and id <> $2 and id in (
       select unnest($3::uuid[]) union all
       (select webhook_event_id from incident_reports where incident_id = any($4::uuid[]) order by id desc limit ${UPDATES_COMPARED}))
     order by id limit 1`,
};

type SeenEvent = Omit<WebhookSeenEventEntity, 'source'>;

/** `event_id` is the first receipt of the event. */
type Settled = Pick<SettledEvent, 'outcome' | 'incident_id'> & Pick<SeenEvent, 'event_id'>;

/**
 * Settles the events of one body in the caller's transaction. A new event creates an incident. A known event with new content
 * updates its incident. A known event with known content is a duplicate and changes nothing.
 */
@Injectable()
export class Settlement {
  constructor(
    private readonly statements: Statements,
    private readonly creation: IncidentCreation,
    private readonly incidents: Incidents,
    private readonly timeline: IncidentTimeline,
    private readonly further: FurtherReports,
  ) {}

  async settle(tx: Tx, arrival: Arrival, events: readonly ReadEvent[]): Promise<SettledEvents> {
    const { id, source } = arrival;
    const wanted = events.map((event) => ({
      event,
      row: this.creation.prepare(principalOf(source), incidentOf(event)),
    }));
    const claimed = await this.statements.rowsIn<{ incident_id: string }>(tx, CLAIM, [
      source,
      id,
      events.map(({ key }) => key),
      events.map(({ contentHash }) => contentHash),
      wanted.map(({ row }) => row.id),
    ]);
    const ids = new Set(claimed.map(({ incident_id }) => incident_id));
    const fresh = wanted.filter(({ row }) => ids.has(row.id));
    const rows = fresh.map(({ row }) => row);
    await this.creation.insertRows(tx, rows);
    await this.timeline.add(tx, ...fresh.flatMap(({ event, row }) => entriesOfNew(row, event)));
    const settled = new Map<ReadEvent, Settled>(
      fresh.map(({ event, row }) => [
        event,
        { outcome: 'created', incident_id: row.id, event_id: id },
      ]),
    );

    const repeated = events.filter((event) => !settled.has(event));
    for (const known of await this.lockSeen(tx, source, repeated)) {
      const { incident_id, event_id, event_key, again } = known;
      const contents = new Set(known.content_hashes.map(nameOf));
      const updates: ReadEvent[] = [];
      for (const event of again) {
        const content = nameOf(event.contentHash);
        const outcome = contents.has(content) ? 'duplicate' : 'updated';
        settled.set(event, { outcome, incident_id, event_id });
        contents.add(content);
        if (outcome === 'updated') updates.push(event);
      }
      if (updates.length === 0) continue;
      const added = updates.map(({ contentHash }) => contentHash);
      await this.statements.rowsIn(tx, ADD_CONTENTS, [source, event_key, added]);
      await this.further.add(tx, arrival, updates, incident_id);
    }
    const incidents = [...new Set([...settled.values()].map(({ incident_id }) => incident_id))];
    const states = await this.incidents.statesOf(tx, incidents);
    const all = events.map((event) => {
      const { incident_number } = states.get(settled.get(event)!.incident_id)!;
      return { ...settled.get(event)!, incident_number };
    });
    const isDuplicate = all.every(({ outcome }) => outcome === 'duplicate');
    const first = all.map(({ event_id }) => event_id);
    const repeats = isDuplicate ? await this.repeatedBy(tx, arrival, first, incidents) : undefined;
    return { events: all, repeats };
  }

  /** Locks known events. Returns each with its events of the body, ordered by incident, so that two bodies do not deadlock. */
  private async lockSeen(tx: Tx, source: string, events: readonly ReadEvent[]) {
    if (events.length === 0) return [];
    const byKey = Map.groupBy(events, ({ key }) => nameOf(key));
    const keys = events.map(({ key }) => key);
    const rows = await this.statements.rowsIn<SeenEvent>(tx, LOCK_SEEN, [source, keys]);
    return rows
      .map((row) => ({ ...row, again: byKey.get(nameOf(row.event_key))! }))
      .toSorted((one, other) => (one.incident_id < other.incident_id ? -1 : 1));
  }

  /** Returns the receipt with the same bytes, or else the first of these receipts, except the arrival. */
  private async repeatedBy(
    tx: Tx,
    { id, body_hash }: Arrival,
    first: readonly string[],
    incidents: readonly string[],
  ): Promise<SettledEvents['repeats']> {
    const values = [body_hash, id, first, incidents];
    const [same] = await this.statements.rowsIn<{ id: string }>(tx, FIND_SAME_BYTES, values);
    const repeated = same?.id ?? first.find((other) => other !== id);
    return repeated === undefined ? undefined : { id: repeated, hasBytes: same !== undefined };
  }
}

const nameOf = (bytes: Buffer): string => bytes.toString('base64');
