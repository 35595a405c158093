// SQL: `on conflict` and locks in one order, so that concurrent transactions neither fail nor deadlock.
import { Injectable } from '@nestjs/common';
import { Equal, In, IsNull, Not } from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { WebhookEventEntity, type WebhookSeenEventEntity } from '../events/webhook-event.entity.js';
import type { ReadEvent } from '../reading/read-events.js';
import {
  afterPart,
  type Arrival,
  ending,
  incidentsOf,
  NOTHING_DONE,
  type SettledReceipt,
} from './receipt.js';

export type UnsettledEvent = WebhookEventEntity & Arrival;

export type SeenEvent = Omit<WebhookSeenEventEntity, 'source'>;

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

const ADD_CONTENT: Statement = {
  name: 'webhook_seen_events_add_content',
  text: `
    update webhook_seen_events
       set content_hashes = (content_hashes || $3::bytea)[greatest(1, cardinality(content_hashes) + 2 - ${MOST_CONTENTS}):]
     where source = $1 and event_key = $2`,
};

/** Time without a failure of the source, after which the next failure is notified. A wrong mapping fails every event. */
const QUIET = `interval '15 minutes'`;

/**
 * Queues a body. A body that failed keeps its row. A body that is already queued is only read, because the worker that settles
 * the body may hold the row lock for long.
 */
const QUEUE: Statement = {
  name: 'webhook_events_queue',
  text: `
    with arrived as materialized (
      select distinct on (source, body_hash) *
        from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[])
          as arrived (id, source, body, body_hash, received_at)
       order by source, body_hash),
    queued as materialized (
      select event.id, source, body_hash from arrived join webhook_events event using (source, body_hash)
       where event.status = 'queued'),
    added as (
      insert into webhook_events (id, source, status, body, body_hash, received_at)
      select id, source, 'queued', body, body_hash, received_at from arrived
       where (source, body_hash) not in (select source, body_hash from queued)
       order by source, body_hash
      on conflict (source, body_hash) where status in ('queued', 'failed')
      do update set status = 'queued', error = null, processed_at = null
      returning id, source, body_hash)
    select * from queued union all select * from added`,
};

const HAS_QUEUED: Statement = {
  name: 'webhook_events_has_queued',
  text: `select from webhook_events where source = $1 and status = 'queued' limit 1`,
};

/** A queued body stays queued, because its sender has received 202. */
const FAIL: Statement = {
  name: 'webhook_events_fail',
  text: `
    insert into webhook_events (id, source, status, body, body_hash, attempts, error, received_at, processed_at)
    values ($1, $2, 'failed', $3, $4, 1, $6, $5, now())
    on conflict (source, body_hash) where status in ('queued', 'failed')
    do update set attempts = webhook_events.attempts + 1,
                  error = case when webhook_events.status = 'failed' then excluded.error end,
                  processed_at = case when webhook_events.status = 'failed' then now() end
    returning id`,
};

/** `origin` is the receipt with the bytes. */
export const SETTLED_COLUMNS = `source, body_hash, incident_ids, received_at, case when body is null then duplicate_of else id end as origin`;

/**
 * Makes failed receipts duplicates of settled receipts with the same bytes, except locked failed receipts, which are being replayed.
 * @param settled name of a table expression with SETTLED_COLUMNS
 */
export const endFailed = (settled: string): string => `
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

const RECENT_FAILURE: Statement = {
  name: 'webhook_events_recent_failure',
  text: `
    select from webhook_events
     where source = $1 and status = 'failed' and processed_at > now() - ${QUIET} limit 1`,
};

@Injectable()
export class InboxRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Claims the events of a receipt, each with the id of its incident. Returns the incident ids of new events. Waits for other
   * transactions that claim the same events.
   */
  async claimAll(
    tx: Tx,
    { id, source }: Arrival,
    events: readonly ReadEvent[],
    incidentIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const keys = events.map(({ key }) => key);
    const contents = events.map(({ contentHash }) => contentHash);
    const values = [source, id, keys, contents, incidentIds];
    const rows = await this.statements.rowsIn<{ incident_id: string }>(tx, CLAIM, values);
    return new Set(rows.map(({ incident_id }) => incident_id));
  }

  async lockSeen(tx: Tx, source: string, events: readonly ReadEvent[]): Promise<SeenEvent[]> {
    if (events.length === 0) return [];
    const keys = events.map(({ key }) => key);
    return await this.statements.rowsIn<SeenEvent>(tx, LOCK_SEEN, [source, keys]);
  }

  async addContent(tx: Tx, source: string, { key, contentHash }: ReadEvent): Promise<void> {
    await this.statements.rowsIn(tx, ADD_CONTENT, [source, key, contentHash]);
  }

  /** Returns the first of these receipts with the same bytes as the arrival, other than the arrival. */
  async findSameBytes(
    tx: Tx,
    { id, body_hash }: Arrival,
    ids: readonly string[],
  ): Promise<string | undefined> {
    const others = ids.filter((other) => other !== id);
    const receipt = await tx.getRepository(WebhookEventEntity).findOne({
      select: { id: true },
      where: { id: In(others), body_hash: Equal(body_hash), body: Not(IsNull()) },
      order: { id: 'ASC' },
    });
    return receipt?.id;
  }

  async insertSettled(tx: Tx, settled: SettledReceipt): Promise<void> {
    const { arrival, events } = settled;
    const { id, source, body_hash, received_at } = arrival;
    const end = ending(afterPart(NOTHING_DONE, settled), events.length);
    const body = end.body === null ? null : arrival.body;
    const outcome = [end.status, body, body_hash, incidentsOf(events), end.duplicate_of];
    const values = [id, source, ...outcome, received_at.toISOString()];
    await this.statements.rowsIn(tx, INSERT_SETTLED, values);
  }

  async queue(tx: Tx, arrivals: readonly Arrival[]): Promise<string[]> {
    const rows = await this.statements.rowsIn<Queued>(tx, QUEUE, [
      arrivals.map(({ id }) => id),
      arrivals.map(({ source }) => source),
      arrivals.map(({ body }) => body),
      arrivals.map(({ body_hash }) => body_hash),
      arrivals.map(({ received_at }) => received_at.toISOString()),
    ]);
    const ids = new Map(rows.map((row) => [nameOf(row), row.id]));
    return arrivals.map((arrival) => ids.get(nameOf(arrival))!);
  }

  /** Stores a body that failed. Returns the id of the row. */
  async keepFailed(tx: Tx, arrival: Arrival, error: string): Promise<string> {
    const { id, source, body, body_hash, received_at } = arrival;
    const values = [id, source, body, body_hash, received_at.toISOString(), error];
    return (await this.statements.rowsIn<Pick<Arrival, 'id'>>(tx, FAIL, values))[0]!.id;
  }

  async hasRecentFailure(tx: Tx, source: string): Promise<boolean> {
    return (await this.statements.rowsIn(tx, RECENT_FAILURE, [source])).length > 0;
  }

  async hasQueued(tx: Tx, source: string): Promise<boolean> {
    return (await this.statements.rowsIn(tx, HAS_QUEUED, [source])).length > 0;
  }

  /** Locks the event and returns it with its body. Waits for other transactions that hold the lock. */
  async lock(tx: Tx, id: string): Promise<UnsettledEvent | undefined> {
    return (await this.locked(tx).where({ id }).getOne()) as UnsettledEvent | undefined;
  }

  /** Locks the first queued bodies of the source, in the order of receipt. */
  async lockFirst(tx: Tx, source: string, most: number): Promise<UnsettledEvent[]> {
    const first = this.locked(tx).where({ source, status: 'queued' }).orderBy('event.id');
    return (await first.limit(most).getMany()) as UnsettledEvent[];
  }

  private locked(tx: Tx) {
    const events = tx.getRepository(WebhookEventEntity).createQueryBuilder('event');
    return events.addSelect('event.body').setLock('pessimistic_write');
  }
}

type Queued = Pick<WebhookEventEntity, 'id' | 'source' | 'body_hash'>;

function nameOf({ source, body_hash }: Omit<Queued, 'id'>): string {
  return `${source} ${body_hash.toString('base64')}`;
}
