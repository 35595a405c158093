// SQL: signed requests are the hot path. One statement stores a batch with its incidents, timeline and inbox rows.
import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import {
  INCIDENT_PARAMETERS,
  IncidentCreation,
  insertIncidents,
} from '../../incidents/incident-creation.js';
import { IncidentTimeline, insertTimeline } from '../../incidents/timeline/incident-timeline.js';
import { Clock } from '../../platform/clock.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { LoopTurns, Semaphore } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { LimitCounter } from '../../platform/limits/limits.js';
import { WebhookEventEntity } from '../webhook-events.js';
import { readEventJson } from '../reading/event-json.js';
import { MOST_EVENTS } from '../reading/mapping.js';
import { openBody, type OpenBody, type ReadEvent } from '../reading/read-events.js';
import type { VerifiedReceipt } from '../signatures/hmac.guard.js';
import { ARRIVALS, Inbox } from './inbox.js';
import {
  type Arrival,
  entriesOfNew,
  principalOf,
  type SettledEvent,
  Settlement,
} from './settlement.js';

/** `origin` is the id of the webhook event that stores the bytes. */
const SETTLED_COLUMNS = `source, body_hash, incident_ids, received_at, case when body is null then duplicate_of else id end as origin`;

/**
 * Makes failed receipts duplicates of settled receipts with the same bytes, except locked failed receipts, which are being replayed.
 * @param settled name of a table expression with SETTLED_COLUMNS
 */
const endFailed = (settled: string): string => `
      update webhook_events
         set status = 'duplicate', body = null, error = null, duplicate_of = same.origin,
             incident_ids = same.incident_ids, processed_at = same.received_at
        from (select failed.id as failed_id, settled.origin, settled.incident_ids, settled.received_at
                from ${settled} as settled join webhook_events failed using (source, body_hash)
               where failed.status = 'failed' for update of failed skip locked) as same
       where webhook_events.id = same.failed_id`;

const INSERT_SETTLED: Statement = {
  name: 'webhook_events_insert_settled',
  text: `
    with settled as (
      insert into webhook_events (id, source, status, body, body_hash, incident_ids, duplicate_of, attempts, received_at, processed_at)
      values ($1, $2, $3, $4, $5, $6, $7, 1, $8, now()) returning ${SETTLED_COLUMNS})
    ${endFailed('settled')}`,
};

const OWN_PARAMETERS = 8;
const IF_NEW = (id: string) => `where ${id} in (select incident_id from fresh)`;

/**
 * The receipt that first inserts an event id creates the incident and its rows. Ids are inserted in order, so that two replicas do not
 * deadlock, and the earliest state of an event is inserted first. While bodies of a source are queued, no event is new: these bodies may
 * have an earlier state of the event. An exact repetition is stored without its body. `limit 1` makes PostgreSQL look up each row by its
 * key: a plan that is kept from the time of small tables would otherwise read them whole.
 */
const SETTLE: Statement = {
  name: 'webhook_receipts_settle',
  text: `
    with arrived as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[], $6::bytea[], $7::bytea[], $8::uuid[])
        as arrived (id, source, body, body_hash, received_at, event_key, content_hash, new_incident)),
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
       order by source, event_key, id
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

/** Stored webhook event. `events` is `undefined` if a worker settles the body. */
type Receipt = Readonly<{ id: string; events?: readonly SettledEvent[] }>;

type SingleReceipt = Readonly<{ arrival: Arrival; event: ReadEvent }>;

/** Responds after the commit of a body and its incidents. Beyond WEBHOOK_SYNC_LIMIT, a worker creates the incidents. */
@Injectable()
export class WebhookReceipts {
  private readonly log = new Logger('Webhooks');
  private readonly singles = new Batcher<SingleReceipt, SettledEvent | undefined>((singles) =>
    this.settleSingles(singles),
  );
  private readonly queue = new Batcher<Arrival, string>((arrivals) => this.inbox.queue(arrivals));
  /** Bodies about the same events wait for each other. The other half of the connections is for other requests. */
  private readonly connections: Semaphore;
  private readonly turns = new LoopTurns();
  private underWay = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly creation: IncidentCreation,
    private readonly timeline: IncidentTimeline,
    private readonly inbox: Inbox,
    private readonly settlement: Settlement,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly limits: LimitCounter,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {
    this.connections = new Semaphore(Math.floor(settings.databasePoolSize / 2));
  }

  async receive(verified: VerifiedReceipt): Promise<Receipt> {
    const { limit, account, body, body_hash } = verified;
    const { source } = verified.source;
    this.received.inc({ source });
    this.underWay += 1;
    try {
      const received_at = this.clock.now();
      const opened = await this.turns.run(() => openBody(verified.source, readEventJson(body)));
      await this.limits.add(limit, account, Math.max(0, opened.count - 1));
      const id = newId(received_at.getTime());
      const arrival = { id, source, body, body_hash, received_at };
      const isBusy = this.underWay > this.settings.webhookSyncLimit;
      const waits = !opened.isEmpty && (isBusy || opened.count > MOST_EVENTS);
      const events = waits ? undefined : await this.settle(arrival, opened);
      return { id: events ? id : await this.queue.submit(arrival), events };
    } catch (error) {
      this.errors.inc({ source, code: toAppError(error).code });
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }

  /** Returns `undefined` if a worker must settle the body. The sender of a rejected body may never retry. */
  private async settle(arrival: Arrival, body: OpenBody) {
    try {
      const events = await this.turns.run(() => body.read());
      if (typeof events === 'string') {
        const event_id = await this.inbox.keepFailed(arrival, events);
        const errors = [{ field: '', code: 'unknown_format', message: events }];
        throw new AppError('validation_error', events, { details: { errors, event_id } });
      }
      const single =
        events.length === 1 && (await this.singles.submit({ arrival, event: events[0]! }));
      return single ? [single] : await this.settleTogether(arrival, events);
    } catch (error) {
      if (error instanceof AppError || isDatabaseUnavailable(error)) throw error;
      this.log.error({ err: error, event: arrival.id }, 'A webhook event was not stored');
      return undefined;
    }
  }

  /** Returns `undefined` if bodies of the source are queued: they may contain earlier states of the same events. */
  private settleTogether(arrival: Arrival, events: readonly ReadEvent[]) {
    const settle = async (tx: Tx) => {
      const queued = { source: arrival.source, status: 'queued' } as const;
      if (events.length > 0 && (await tx.existsBy(WebhookEventEntity, queued))) return undefined;
      const settled = await this.settlement.settle(tx, arrival, events);
      const end = await this.settlement.endOf(tx, arrival, settled);
      const { status, body = arrival.body, incident_ids, duplicate_of } = end;
      const { id, source, body_hash, received_at } = arrival;
      const outcome = [status, body, body_hash, incident_ids, duplicate_of];
      await this.statements.rowsIn(tx, INSERT_SETTLED, [id, source, ...outcome, received_at]);
      return settled;
    };
    return this.connections.run(() => this.transactions.run(settle));
  }

  /** Settles new events and exact repetitions in one round trip. `undefined`: the event is an update or must wait. */
  async settleSingles(singles: readonly SingleReceipt[]): Promise<(SettledEvent | undefined)[]> {
    const rows = singles.map(({ arrival, event }) =>
      this.creation.prepare(principalOf(arrival.source), event.incident),
    );
    const entries = singles.flatMap(({ event }, index) => entriesOfNew(rows[index]!, event));
    const settled = await this.statements.rows<SettledEvent & Pick<Arrival, 'id'>>(SETTLE, [
      ...ARRIVALS.values(singles.map(({ arrival }) => arrival)),
      singles.map(({ event }) => event.key),
      singles.map(({ event }) => event.contentHash),
      rows.map(({ id }) => id),
      ...this.creation.valuesOf(rows),
      ...this.timeline.valuesOf(entries),
    ]);
    const byId = new Map(settled.map(({ id, ...event }) => [id, event]));
    const made = new Set(settled.map(({ incident_id }) => incident_id));
    this.creation.inserted(rows.filter(({ id }) => made.has(id)));
    return singles.map(({ arrival }) => byId.get(arrival.id));
  }
}
