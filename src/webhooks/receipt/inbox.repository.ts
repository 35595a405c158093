// SQL: `on conflict` and locks in one order, so that concurrent transactions neither fail nor deadlock.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { WebhookEventEntity } from '../events/webhook-event.entity.js';
import {
  afterPart,
  type Arrival,
  ending,
  incidentsOf,
  NOTHING_DONE,
  type SettledEvents,
} from './receipt.js';

export type UnsettledEvent = WebhookEventEntity & Arrival;

/** Time without a failure of the source, after which the next failure is notified. A wrong mapping fails every event. */
const QUIET = `interval '15 minutes'`;

/**
 * Queues a body. A body that failed keeps its row. A body that is already queued is only read, because the worker that settles
 * the body may hold the row lock for long.
 */
const QUEUE: Statement = {
  name: 'webhook_events_queue',
  text: `
    with input as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[])
        with ordinality as input (id, source, body, body_hash, received_at, position)),
    arrived as materialized (
      select distinct on (source, body_hash) * from input order by source, body_hash),
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
    select stored.id
      from input join (select * from queued union all select * from added) as stored using (source, body_hash)
     order by position`,
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
  constructor(
    private readonly statements: Statements,
    private readonly events: DomainEvents,
  ) {}

  async insertSettled(tx: Tx, arrival: Arrival, settled: SettledEvents): Promise<void> {
    const { events } = settled;
    const { id, source, body_hash, received_at } = arrival;
    const end = ending(afterPart(NOTHING_DONE, settled), events.length);
    const body = end.body === null ? null : arrival.body;
    const outcome = [end.status, body, body_hash, incidentsOf(events), end.duplicate_of];
    const values = [id, source, ...outcome, received_at.toISOString()];
    await this.statements.rowsIn(tx, INSERT_SETTLED, values);
  }

  /** Returns the ids of the rows in the order of the arrivals. */
  async queue(tx: Tx, arrivals: readonly Arrival[]): Promise<string[]> {
    const rows = await this.statements.rowsIn<Pick<Arrival, 'id'>>(tx, QUEUE, [
      arrivals.map(({ id }) => id),
      arrivals.map(({ source }) => source),
      arrivals.map(({ body }) => body),
      arrivals.map(({ body_hash }) => body_hash),
      arrivals.map(({ received_at }) => received_at.toISOString()),
    ]);
    return rows.map(({ id }) => id);
  }

  async keepFailed(tx: Tx, arrival: Arrival, error: string): Promise<string> {
    const { source, body, body_hash, received_at } = arrival;
    const isFirst = await this.isFirstFailure(tx, source);
    const values = [arrival.id, source, body, body_hash, received_at.toISOString(), error];
    const [row] = await this.statements.rowsIn<Pick<Arrival, 'id'>>(tx, FAIL, values);
    const { id } = row!;
    if (isFirst) await this.recordFailure(tx, { id, source }, error);
    return id;
  }

  /** Records a failure event if the source had no failure in the last 15 min. Call it before the failure is stored. */
  async notifyFailure(tx: Tx, event: Failed, error: string): Promise<void> {
    if (await this.isFirstFailure(tx, event.source)) await this.recordFailure(tx, event, error);
  }

  private async isFirstFailure(tx: Tx, source: string): Promise<boolean> {
    return (await this.statements.rowsIn(tx, RECENT_FAILURE, [source])).length === 0;
  }

  private async recordFailure(tx: Tx, { id, source }: Failed, error: string): Promise<void> {
    const subject = { type: 'webhook_event', id };
    const payload = { source, error };
    await this.events.record(tx, { type: 'webhook_event.failed', subject, payload });
  }

  async hasQueued(tx: Tx, source: string): Promise<boolean> {
    return (await this.statements.rowsIn(tx, HAS_QUEUED, [source])).length > 0;
  }

  async lock(tx: Tx, id: string): Promise<UnsettledEvent | undefined> {
    return (await this.locked(tx).where({ id }).getOne()) as UnsettledEvent | undefined;
  }

  async lockFirst(tx: Tx, source: string, most: number): Promise<UnsettledEvent[]> {
    const first = this.locked(tx).where({ source, status: 'queued' }).orderBy('event.id');
    return (await first.limit(most).getMany()) as UnsettledEvent[];
  }

  private locked(tx: Tx) {
    const events = tx.getRepository(WebhookEventEntity).createQueryBuilder('event');
    return events.addSelect('event.body').setLock('pessimistic_write');
  }
}

type Failed = Pick<WebhookEventEntity, 'id' | 'source'>;
