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
import { endFailed, SETTLED_COLUMNS } from './inbox.repository.js';
import type { Arrival } from './receipt.js';

/** A body of one event. */
export interface SingleReceipt {
  readonly arrival: Arrival;
  readonly event: ReadEvent;
}

const OWN_PARAMETERS = 9;
const IF_NEW = (id: string) => `where ${id} in (select incident_id from fresh)`;

/**
 * The receipt that first inserts the id of an event creates the incident and the rows that belong to it. Ids are inserted in order, so that
 * two replicas with the same ids do not deadlock. An event with an id is not inserted while bodies of its source are queued, because they
 * may have an earlier state of the event.
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
        from arrived ${IF_NEW('incident_id')} returning ${SETTLED_COLUMNS}),
    ended as (${endFailed('inbox')}),
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
        from repeated returning ${SETTLED_COLUMNS}),
    ended as (${endFailed('inbox')})
    select repeated.id, incidents.id as incident_id, incidents.incident_number
      from repeated join incidents on incidents.id = repeated.incident_id`,
};

/** A receipt with the incident that the first receipt of the event created. */
interface RepeatedRow {
  readonly id: string;
  readonly incident_id: string;
  readonly incident_number: string;
}

@Injectable()
export class ReceiptBatchesRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * A transaction in one round trip. `rows` has an incident for each receipt, in the same order. Returns the numbers of the created
   * incidents by their ids. Events that were seen before, or that have to wait, are not stored.
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
      singles.map(({ arrival }) => arrival.body_hash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      rows.map(({ id }) => id),
      singles.map(({ arrival }) => arrival.received_at.toISOString()),
      singles.map(({ event }) => event.eventId !== undefined),
      ...incidents,
      ...timeline,
    ]);
    return new Map(made.map(({ id, incident_number }) => [id, incident_number]));
  }

  /** Stores events whose first receipt had the same bytes. Returns them by the ids of their receipts. Other events are not stored. */
  async insertRepeated(
    singles: readonly SingleReceipt[],
  ): Promise<ReadonlyMap<string, RepeatedRow>> {
    const rows = await this.statements.rows<RepeatedRow>(INSERT_REPEATED, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.body_hash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      singles.map(({ arrival }) => arrival.received_at.toISOString()),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }
}
