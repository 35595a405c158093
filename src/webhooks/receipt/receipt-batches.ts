// SQL: receipt is the hot path. One statement stores a batch of receipts with their incidents, timeline and inbox rows.
import { Injectable } from '@nestjs/common';
import {
  INCIDENT_PARAMETERS,
  IncidentCreation,
  insertIncidents,
} from '../../incidents/incident-creation.js';
import { IncidentTimeline, insertTimeline } from '../../incidents/timeline/incident-timeline.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { incidentOf, type ReadEvent } from '../reading/read-events.js';
import { entriesOfNew } from './further-reports.js';
import { endFailed, SETTLED_COLUMNS } from './inbox.repository.js';
import { type Arrival, principalOf, type SettledEvent } from './receipt.js';

interface SingleReceipt {
  readonly arrival: Arrival;
  readonly event: ReadEvent;
}

const OWN_PARAMETERS = 9;
const IF_NEW = (id: string) => `where ${id} in (select incident_id from fresh)`;

/**
 * The receipt that first inserts an event id creates the incident and its rows. Ids are inserted in order, so that two replicas with the
 * same ids do not deadlock. An event with an id is not inserted while bodies of its source are queued, because these bodies may have an
 * earlier state of the event.
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
    select id as incident_id, incident_number from incident`,
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

type NumberRow = Omit<SettledEvent, 'outcome'>;
type Settled = readonly (SettledEvent | undefined)[];

/** Settles the usual cases in batches: one new event, or one exact repetition. Each batch is a transaction in one round trip. */
@Injectable()
export class ReceiptBatches {
  private readonly newOnes = new Batcher((singles: readonly SingleReceipt[]) =>
    this.insertNew(singles),
  );
  private readonly repeatedOnes = new Batcher((singles: readonly SingleReceipt[]) =>
    this.insertRepeated(singles),
  );

  constructor(
    private readonly statements: Statements,
    private readonly creation: IncidentCreation,
    private readonly timeline: IncidentTimeline,
  ) {}

  /** Returns `undefined` if the event is neither new nor an exact repetition, or must wait. */
  async settle(single: SingleReceipt): Promise<SettledEvent | undefined> {
    return (await this.newOnes.submit(single)) ?? (await this.repeatedOnes.submit(single));
  }

  async insertNew(singles: readonly SingleReceipt[]): Promise<Settled> {
    const rows = singles.map(({ arrival, event }) =>
      this.creation.prepare(principalOf(arrival.source), incidentOf(event)),
    );
    const entries = singles.flatMap(({ event }, index) => entriesOfNew(rows[index]!, event));
    const made = await this.statements.rows<NumberRow>(INSERT_NEW, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.body),
      singles.map(({ arrival }) => arrival.body_hash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      rows.map(({ id }) => id),
      singles.map(({ arrival }) => arrival.received_at.toISOString()),
      singles.map(({ event }) => event.eventId !== undefined),
      ...this.creation.valuesOf(rows),
      ...this.timeline.valuesOf(entries),
    ]);
    const byId = new Map(made.map((row) => [row.incident_id, row]));
    this.creation.inserted(rows.filter(({ id }) => byId.has(id)));
    return rows.map(({ id }) => settledAs('created', byId.get(id)));
  }

  private async insertRepeated(singles: readonly SingleReceipt[]): Promise<Settled> {
    const rows = await this.statements.rows<NumberRow & Pick<Arrival, 'id'>>(INSERT_REPEATED, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.body_hash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      singles.map(({ arrival }) => arrival.received_at.toISOString()),
    ]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return singles.map(({ arrival }) => settledAs('duplicate', byId.get(arrival.id)));
  }
}

function settledAs(
  outcome: SettledEvent['outcome'],
  row: NumberRow | undefined,
): SettledEvent | undefined {
  return row && { outcome, incident_id: row.incident_id, incident_number: row.incident_number };
}
