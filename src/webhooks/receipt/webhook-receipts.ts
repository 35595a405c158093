import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { LoopTurns, Semaphore } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { Transactions } from '../../platform/database/transactions.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { LimitCounter } from '../../platform/limits/limits.js';
import { Work } from '../../platform/work/work.js';
import { readEventJson } from '../reading/event-json.js';
import { MOST_EVENTS } from '../reading/mapping.js';
import { isUnfit, openBody, type OpenBody, type ReadEvent } from '../reading/read-events.js';
import { type VerifiedReceipt, webhookLimit } from '../signatures/hmac.guard.js';
import { QUEUED_EVENTS, workOn } from './inbox-processing.js';
import { InboxRepository } from './inbox.repository.js';
import { ReceiptBatches } from './receipt-batches.js';
import { type Arrival, NOT_STORED, type SettledEvent } from './receipt.js';
import { Settlement } from './settlement.js';

export type Receipt =
  | { readonly status: 'accepted'; readonly events: readonly SettledEvent[] }
  | { readonly status: 'queued' | 'empty'; readonly id: string };

/** Bodies with more events share two places for settling. */
const FEW = 10;
/** Bodies of this size may take several milliseconds to read. */
const LARGE_BYTES = 4_096;

/**
 * Stores bodies with a valid signature. Responds after the commit of the body with its incidents. If more receipts are in progress
 * than WEBHOOK_SYNC_LIMIT allows, commits only the body, and a worker creates the incidents.
 */
@Injectable()
export class WebhookReceipts {
  private readonly log = new Logger('Webhooks');
  private readonly queue = new Batcher((arrivals: readonly Arrival[]) => this.queueAll(arrivals));
  /** Limits bodies with many events, which hold a database connection for long. */
  private readonly manyEvents = new Semaphore(2);
  private readonly turns = new LoopTurns();
  private underWay = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly batches: ReceiptBatches,
    private readonly inbox: InboxRepository,
    private readonly settlement: Settlement,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly limits: LimitCounter,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  async receive(verified: VerifiedReceipt): Promise<Receipt> {
    const { source } = verified.source;
    this.received.inc({ source });
    this.underWay += 1;
    try {
      return await this.take(verified);
    } catch (error) {
      this.errors.inc({ source, code: toAppError(error).code });
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }

  private async take({ source, bytes, account }: VerifiedReceipt): Promise<Receipt> {
    const received_at = this.clock.now();
    const body = await this.inTurn(bytes, () => openBody(source, readEventJson(bytes)));
    const arrival: Arrival = {
      id: newId(received_at.getTime()),
      source: source.source,
      body: bytes,
      body_hash: hash('sha256', bytes, 'buffer'),
      received_at,
    };
    if (body.isEmpty) {
      await this.transactions.run((tx) => this.inbox.insertSettled(tx, arrival, { events: [] }));
      return { status: 'empty', id: arrival.id };
    }
    if (body.count > 1) {
      await this.limits.add(webhookLimit(this.settings), account, body.count - 1);
    }
    const isBusy = this.underWay > this.settings.webhookSyncLimit;
    const settled =
      isBusy || body.count > MOST_EVENTS ? undefined : await this.settle(arrival, body);
    if (settled) return { status: 'accepted', events: settled };
    return { status: 'queued', id: await this.queue.submit(arrival) };
  }

  /** Returns `undefined` if a worker must settle the body, for example because an event among several cannot be read or stored. */
  private async settle(
    arrival: Arrival,
    body: OpenBody,
  ): Promise<readonly SettledEvent[] | undefined> {
    try {
      const events = await this.inTurn(arrival.body, () => body.read());
      if (!isUnfit(events)) return await this.settleEvents(arrival, events);
      // Analysts see the failed event and can replay it.
      const event_id = await this.keepFailed(arrival, events);
      const errors = [{ field: '', code: 'unknown_format', message: events }];
      throw new AppError('validation_error', events, { details: { errors, event_id } });
    } catch (error) {
      if (error instanceof AppError || isDatabaseUnavailable(error)) throw error;
      // The body is kept, because the sender may never retry.
      this.log.error({ err: error, event: arrival.id }, 'A webhook event was not stored');
      if (body.count > 1) return undefined;
      await this.keepFailed(arrival, NOT_STORED);
      throw error;
    }
  }

  /** Returns `undefined` if bodies of the source are queued, because these may have earlier states of the same events. */
  private async settleEvents(
    arrival: Arrival,
    events: readonly ReadEvent[],
  ): Promise<readonly SettledEvent[] | undefined> {
    const single =
      events.length === 1 && (await this.batches.settle({ arrival, event: events[0]! }));
    if (single) return [single];
    const settle = () =>
      this.transactions.run(async (tx) => {
        if (await this.inbox.hasQueued(tx, arrival.source)) return undefined;
        const settled = await this.settlement.settle(tx, arrival, events);
        await this.inbox.insertSettled(tx, arrival, settled);
        return settled.events;
      });
    return await (events.length > FEW ? this.manyEvents.run(settle) : settle());
  }

  private async queueAll(arrivals: readonly Arrival[]): Promise<readonly string[]> {
    return await this.transactions.run(async (tx) => {
      const ids = await this.inbox.queue(tx, arrivals);
      const sources = arrivals.map(({ source }) => source);
      await this.work.add(tx, QUEUED_EVENTS, ...workOn(sources));
      return ids;
    });
  }

  private async keepFailed(arrival: Arrival, error: string): Promise<string> {
    return await this.transactions.run((tx) => this.inbox.keepFailed(tx, arrival, error));
  }

  private async inTurn<T>({ length }: Buffer, work: () => T): Promise<T> {
    return length >= LARGE_BYTES ? await this.turns.run(work) : work();
  }
}
