// SQL: `on conflict`, and locks in a fixed order, so that concurrent transactions neither fail nor deadlock.
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { AuditLog } from '../../audit/audit-log.js';
import type { Principal } from '../../auth/principal.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { isDatabaseUnavailable, isLostRace } from '../../platform/database/sqlstate.js';
import { RowInsert, type Statement, Statements } from '../../platform/database/statements.js';
import {
  afterCommit,
  inSavepoint,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { AppError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { AgainOutcome, type Kind } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { readEventJson } from '../reading/event-json.js';
import { openBody, type ReadEvent } from '../reading/read-events.js';
import { WebhookSourceEntity } from '../sources/webhook-source.entity.js';
import { WebhookEventEntity, WebhookEvents } from '../webhook-events.js';
import { type Arrival, idsOf, type Settled, Settlement } from './settlement.js';

export const ARRIVALS = new RowInsert(WebhookEventEntity, [
  ...(['id', 'source', 'body', 'body_hash', 'received_at'] as const),
]);

/**
 * Queues bodies. A body that failed before is queued again in its row. The row of a body that is already queued is read
 * without a lock, because a worker may hold the lock of the row for a long time.
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

/**
 * Stores a failed body. Does not change another row in which the body is queued, because its sender has already received
 * 202. A wrong mapping fails every event, so `is_first` is false for 15 minutes after a failure of the source.
 */
const FAIL: Statement = {
  name: 'webhook_events_fail',
  text: `
    insert into webhook_events (id, source, status, body, body_hash, attempts, error, incident_ids, received_at, processed_at)
    values ($1, $2, 'failed', $3, $4, 1, $5, $6, $7, now())
    on conflict (source, body_hash) where status in ('queued', 'failed')
    do update set status = 'failed', error = excluded.error, attempts = webhook_events.attempts + 1, processed_at = now(),
                  incident_ids = case when $6 = '{}' then webhook_events.incident_ids else $6 end
     where webhook_events.status = 'failed' or webhook_events.id = excluded.id
    returning id, not exists (
      select from webhook_events recent
       where source = $2 and status = 'failed' and processed_at > now() - interval '15 minutes') as is_first`,
};

type UnsettledEvent = WebhookEventEntity & Arrival;

type Queue = Readonly<{ source: string }>;

const QUEUED_EVENTS = { name: 'webhook-events' } as Pick<Kind<Queue>, 'name'>;
/** Maximum number of bodies of a source that one transaction settles. */
const MOST_TOGETHER = 20;
const TURN_MS = 1_000;

/** Stores the bodies of signed requests. Settles queued bodies, and failed bodies that an analyst replays. */
@Injectable()
export class Inbox implements OnModuleInit {
  private readonly log = new Logger('Webhooks');
  private readonly turns = new LoopTurns();

  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly domainEvents: DomainEvents,
    private readonly events: WebhookEvents,
    private readonly settlement: Settlement,
    private readonly audit: AuditLog,
    private readonly work: Work,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  onModuleInit(): void {
    this.work.define<Queue, void>({
      ...QUEUED_EVENTS,
      places: 4,
      one: ({ data }) => this.processNext(data.source),
    });
  }

  async queue(arrivals: readonly Arrival[]): Promise<string[]> {
    return await this.transactions.run(async (tx) => {
      const values = ARRIVALS.values(arrivals);
      const rows = await this.statements.rowsIn<Pick<Arrival, 'id'>>(tx, QUEUE, values);
      // One row in the table work per source, so that the bodies of a source are settled in the order of receipt.
      const sources = [...new Set(arrivals.map(({ source }) => source))].sort();
      const work = sources.map((source) => ({ ref: hash('md5', source), data: { source } }));
      await this.work.add(tx, QUEUED_EVENTS, ...work);
      return rows.map(({ id }) => id);
    });
  }

  /** Stores a failed body and returns the id of its row. This may be an earlier row with the same bytes. */
  async keepFailed(arrival: Arrival, error: string): Promise<string> {
    return await this.transactions.run(async (tx) => {
      const stored = await this.storeFailure(tx, arrival, error, []);
      if (stored) return stored.id;
      const { source, body_hash } = arrival;
      const queued = { source, body_hash, status: 'queued' } as const;
      return (await tx.findOneByOrFail(WebhookEventEntity, queued)).id;
    });
  }

  async replay(
    caller: Principal,
    id: string,
    idempotency: Participant<WebhookEventEntity>,
  ): Promise<WebhookEventEntity> {
    const replay = async (tx: Tx) => {
      const event = (await this.events.get(id, tx)) as UnsettledEvent;
      const { status, source } = event;
      if (status !== 'failed') {
        const message = `The event is ${status}: only a failed event can be replayed.`;
        throw new AppError('invalid_state', message, { details: { status } });
      }
      await this.process(tx, event, await tx.findOneBy(WebhookSourceEntity, { source }));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'webhook_event.replayed',
        subject: { type: 'webhook_event', id },
        details: { source },
      });
      return await this.events.get(id, tx);
    };
    return await this.transactions.run<WebhookEventEntity>(replay, caller, idempotency);
  }

  /** Settles queued bodies in the order of receipt: they may be about one incident. Asks for another run unless none is queued. */
  private async processNext(source: string) {
    const begun = performance.now();
    return await this.transactions.run(async (tx) => {
      const taken = (await tx.find(WebhookEventEntity, {
        where: { source, status: 'queued' },
        order: { id: 'asc' },
        take: MOST_TOGETHER,
        lock: { mode: 'pessimistic_write' },
      })) as UnsettledEvent[];
      const settings = await tx.findOneBy(WebhookSourceEntity, { source });
      for (const event of taken) {
        await this.process(tx, event, settings);
        if (performance.now() - begun > TURN_MS) break;
      }
      const again = new AgainOutcome({ inMs: 0, countsAsAttempt: false });
      return taken.length > 0 ? again : undefined;
    });
  }

  /** Uses only the connection of the transaction, because a small pool may not have a second connection. */
  private async process(tx: Tx, event: UnsettledEvent, source: WebhookSourceEntity | null) {
    if (!source) {
      return await this.fail(
        tx,
        event,
        'unknown_source',
        'The source of the event is no longer registered.',
      );
    }
    const events: Settled[] = [];
    const settled = await this.attempt(event, () => this.settle(tx, event, source, events));
    if (typeof settled === 'string') return await this.fail(tx, event, 'validation_error', settled);
    if (settled === 0) {
      const end = await this.settlement.endOf(tx, event, events);
      const [attempts, processed_at] = [() => 'attempts + 1', () => 'now()'];
      await tx.update(WebhookEventEntity, { id: event.id }, { ...end, attempts, processed_at });
      return;
    }
    const parts = settled ? `${settled} of ${events.length + settled} events` : 'It';
    const error = `${parts} could not be stored. The log has the cause.`;
    await this.fail(tx, event, 'internal_error', error, idsOf(events));
  }

  /** Adds to `settled`. Returns the number of events that cannot be stored, or why the body cannot be read. */
  private async settle(
    tx: Tx,
    event: UnsettledEvent,
    source: WebhookSourceEntity,
    settled: Settled[],
  ): Promise<number | string> {
    const body = await this.turns.run(() => openBody(source, readEventJson(event.body)));
    let [read, missing] = [0, 0];
    const settleAll = async (events: readonly ReadEvent[]): Promise<void> => {
      const settle = () => this.settlement.settle(tx, event, events);
      const added = await this.attempt(event, () => inSavepoint(tx, settle));
      if (added) settled.push(...added);
      else if (events.length === 1) missing += 1;
      else for (const one of events) await settleAll([one]);
    };
    do {
      const part = await this.turns.run(() => body.read(read));
      if (typeof part === 'string') return part;
      read += part.length;
      await settleAll(part);
    } while (read < body.count);
    return missing;
  }

  /** Returns `undefined` if `work` fails. After an error of the database, the work engine retries the transaction. */
  private async attempt<T>({ id }: UnsettledEvent, work: () => Promise<T>) {
    try {
      return await work();
    } catch (error) {
      if (isDatabaseUnavailable(error) || isLostRace(error)) throw error;
      this.log.error({ err: error, event: id }, 'A webhook event was not stored');
      return undefined;
    }
  }

  private async fail(
    tx: Tx,
    event: UnsettledEvent,
    code: ErrorCode,
    error: string,
    incident_ids: string[] = [],
  ): Promise<void> {
    await this.storeFailure(tx, event, error, incident_ids);
    // The response to a replay shows its failure.
    if (event.status !== 'queued') return;
    const { id, source } = event;
    afterCommit(tx, () => {
      // A metrics label exists until the process ends, so it must not contain the name of an unregistered source.
      this.errors.inc({ source: code === 'unknown_source' ? 'other' : source, code });
      this.log.warn({ event: id, source, code }, `A queued webhook event failed: ${error}`);
    });
  }

  private async storeFailure(
    tx: Tx,
    arrival: Arrival & Partial<UnsettledEvent>,
    error: string,
    incident_ids: string[],
  ) {
    const { id, source, body, body_hash, received_at, status } = arrival;
    const values = [id, source, body, body_hash, error, incident_ids, received_at.toISOString()];
    const [row] = await this.statements.rowsIn<{ id: string; is_first: boolean }>(tx, FAIL, values);
    if (row?.is_first && status !== 'failed') {
      const subject = { type: 'webhook_event', id: row.id };
      const payload = { source, error };
      await this.domainEvents.record(tx, { type: 'webhook_event.failed', subject, payload });
    }
    return row;
  }
}
