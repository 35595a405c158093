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

const OWN_PARAMETERS = 8;
const IF_NEW = (id: string) => `where ${id} in (select incident_id from fresh)`;

/**
 * The receipt that first inserts an event id creates the incident and its rows. Ids are inserted in order, so that two replicas do not
 * deadlock. While bodies of a source are queued, no event is new: these bodies may have an earlier state of the event. An exact
 * repetition is stored without its body. `limit 1` makes PostgreSQL look up each row by its key: a plan that is kept from the time of
 * small tables would otherwise read them whole.
 */
const SETTLE: Statement = {
  name: 'webhook_receipts_settle',
  text: `
    with arrived as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::uuid[], $8::timestamptz[])
        as arrived (id, source, body, body_hash, event_key, content_hash, new_incident, received_at)),
    repeated as materialized (
      select arrived.*, seen.incident_id, first.id as first_id, incident_number
        from arrived
       cross join lateral (
         select event_id, incident_id from webhook_seen_events
          where source = arrived.source and event_key = arrived.event_key
            and arrived.content_hash = any(content_hashes) limit 1) seen
       cross join lateral (
         select id from webhook_events where id = seen.event_id and body_hash = arrived.body_hash limit 1) first
       cross join lateral (
         select incident_number from incidents where id = seen.incident_id limit 1) incident),
    fresh as (
      insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
      select source, event_key, array[content_hash], id, new_incident from arrived
       where not exists (
         select from webhook_events waiting where waiting.source = arrived.source and waiting.status = 'queued')
       order by source, event_key
      on conflict do nothing
      returning incident_id),
    inbox as (
      insert into webhook_events (id, source, status, body, body_hash, incident_ids, duplicate_of, attempts, received_at, processed_at)
      select id, source, 'processed', body, body_hash, array[new_incident], null, 1, received_at, received_at
        from arrived ${IF_NEW('new_incident')}
       union all
      select id, source, 'duplicate', null, body_hash, array[incident_id], first_id, 1, received_at, received_at
        from repeated
      returning ${SETTLED_COLUMNS}),
    ended as (${endFailed('inbox')}),
    ${insertIncidents(1 + OWN_PARAMETERS, IF_NEW)},
    timeline as (${insertTimeline(1 + OWN_PARAMETERS + INCIDENT_PARAMETERS)} ${IF_NEW('incident_id')})
    select arrived.id, 'created' as outcome, incident.id as incident_id, incident_number
      from incident join arrived on arrived.new_incident = incident.id
     union all
    select id, 'duplicate', incident_id, incident_number from repeated`,
};

/** Settles the usual cases in batches: one new event, or one exact repetition. Each batch is a transaction in one round trip. */
@Injectable()
export class ReceiptBatches {
  private readonly batches = new Batcher((singles: readonly SingleReceipt[]) =>
    this.settleAll(singles),
  );

  constructor(
    private readonly statements: Statements,
    private readonly creation: IncidentCreation,
    private readonly timeline: IncidentTimeline,
  ) {}

  /** Returns `undefined` if the event is an update, must wait, or arrives twice at the same time. */
  async settle(single: SingleReceipt): Promise<SettledEvent | undefined> {
    return await this.batches.submit(single);
  }

  async settleAll(singles: readonly SingleReceipt[]): Promise<(SettledEvent | undefined)[]> {
    const rows = singles.map(({ arrival, event }) =>
      this.creation.prepare(principalOf(arrival.source), incidentOf(event)),
    );
    const entries = singles.flatMap(({ event }, index) => entriesOfNew(rows[index]!, event));
    const settled = await this.statements.rows<SettledEvent & Pick<Arrival, 'id'>>(SETTLE, [
      singles.map(({ arrival }) => arrival.id),
      singles.map(({ arrival }) => arrival.source),
      singles.map(({ arrival }) => arrival.body),
      singles.map(({ arrival }) => arrival.body_hash),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      rows.map(({ id }) => id),
      singles.map(({ arrival }) => arrival.received_at.toISOString()),
      ...this.creation.valuesOf(rows),
      ...this.timeline.valuesOf(entries),
    ]);
    const byId = new Map(settled.map(({ id, ...event }) => [id, event]));
    const made = new Set(settled.map(({ incident_id }) => incident_id));
    this.creation.inserted(rows.filter(({ id }) => made.has(id)));
    return singles.map(({ arrival }) => byId.get(arrival.id));
  }
}
