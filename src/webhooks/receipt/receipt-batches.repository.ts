// SQL: receipt is the hot path. One statement stores a batch of receipts with their incidents, timeline and inbox rows.
import { Injectable } from '@nestjs/common';
import {
  INCIDENT_PARAMETERS,
  insertIncidents,
  type InsertedIncident,
} from '../../incidents/incident-creation.js';
import { insertTimeline } from '../../incidents/timeline/incident-timeline.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { ReadEvent } from '../reading/read-events.js';
import type { Arrival } from './receipt.js';

/** A body of one event. */
export interface SingleReceipt {
  readonly arrival: Arrival;
  readonly event: ReadEvent;
}

const OWN_PARAMETERS = 9;
const IF_NEW = (id: string) => `where ${id} in (select incident_id from fresh)`;

/**
 * Whoever inserts the sender's id of an event first makes the incident; all else is inserted for those alone. The ids are
 * inserted in their order, so that two replicas that have the same ones never wait for each other in a circle. An event with an
 * id waits behind the queued bodies of its source, which may have an earlier state of it.
 */
const INSERT_NEW: Statement = {
  name: 'webhook_receipts_insert_new',
  text: `
    with arrived as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::uuid[], $8::timestamptz[], $9::boolean[])
        as arrived (id, source, body, body_hash, event_key, content_hash, incident_id, received_at, has_order)
       where not (has_order and exists (
         select from webhook_events waiting where waiting.source = arrived.source and waiting.status = 'queued'))),
    fresh as (
      insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
      select source, event_key, array[content_hash], id, incident_id from arrived order by source, event_key
      on conflict do nothing
      returning incident_id),
    inbox as (
      insert into webhook_events (id, source, status, body, body_hash, incident_ids, attempts, received_at, processed_at)
      select id, source, 'processed', body, body_hash, array[incident_id], 1, received_at, received_at
        from arrived ${IF_NEW('incident_id')}),
    ${insertIncidents(1 + OWN_PARAMETERS, IF_NEW)},
    timeline as (${insertTimeline(1 + OWN_PARAMETERS + INCIDENT_PARAMETERS)} ${IF_NEW('incident_id')})
    select id, incident_number from incident`,
};

/** Stores repetitions without a body, because the first receipt has the same bytes. */
const INSERT_REPEATED: Statement = {
  name: 'webhook_receipts_insert_repeated',
  text: `
    with arrived as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::timestamptz[])
        as arrived (id, source, body_hash, event_key, content_hash, received_at)),
    repeated as materialized (
      select arrived.*, seen.incident_id, first.id as first_id
        from arrived
        join webhook_seen_events seen on seen.source = arrived.source and seen.event_key = arrived.event_key
        join webhook_events first on first.id = seen.event_id and first.body_hash = arrived.body_hash
       where arrived.content_hash = any(seen.content_hashes)),
    inbox as (
      insert into webhook_events (id, source, status, body_hash, incident_ids, duplicate_of, attempts, received_at, processed_at)
      select id, source, 'duplicate', body_hash, array[incident_id], first_id, 1, received_at, received_at
        from repeated)
    select repeated.id, incidents.id as incident_id, incidents.incident_number
      from repeated join incidents on incidents.id = repeated.incident_id`,
};

/** The incident that the first receipt of an event created. */
interface RepeatedRow {
  readonly id: string;
  readonly incident_id: string;
  readonly incident_number: string;
}

@Injectable()
export class ReceiptBatchesRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * A transaction of its own in one round trip. `rows` has an incident for each receipt, in their order. Answers the
   * numbers of those that it made, by their ids; of an event that was seen before, or that has to wait, it leaves no trace.
   */
  async insertNew(
    singles: readonly SingleReceipt[],
    rows: readonly InsertedIncident[],
    incidents: readonly unknown[],
    timeline: readonly unknown[],
  ): Promise<ReadonlyMap<string, string>> {
    const made = await this.statements.rows<{ id: string; incident_number: string }>(INSERT_NEW, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.body),
      singles.map(({ arrival }) => arrival.bodyHash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      rows.map(({ id }) => id),
      singles.map(({ arrival }) => arrival.receivedAt.toISOString()),
      singles.map(({ event }) => event.eventId !== undefined),
      ...incidents,
      ...timeline,
    ]);
    return new Map(made.map(({ id, incident_number }) => [id, incident_number]));
  }

  /**
   * The same for events whose first receipt had the same bytes. Answers those by the ids of their receipts: they are
   * duplicates. Of the others it leaves no trace.
   */
  async insertRepeated(
    singles: readonly SingleReceipt[],
  ): Promise<ReadonlyMap<string, RepeatedRow>> {
    const rows = await this.statements.rows<RepeatedRow>(INSERT_REPEATED, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.bodyHash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      singles.map(({ arrival }) => arrival.receivedAt.toISOString()),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }
}
