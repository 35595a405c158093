import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { IncidentCreation } from '../../incidents/incident-creation.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { Clock } from '../../platform/clock.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { atOnce, LoopTurns, Semaphore } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { Transactions } from '../../platform/database/transactions.js';
import { LimitCounter } from '../../platform/limits/limits.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { Work } from '../../platform/work/work.js';
import { readEventJson, readEventLines } from '../reading/event-json.js';
import {
  incidentOf,
  isUnfit,
  MOST_EVENTS,
  openBody,
  type OpenBody,
} from '../reading/read-events.js';
import { accountOf, type VerifiedReceipt, webhookLimit } from '../signatures/hmac.guard.js';
import type { WebhookSource } from '../sources/webhook-source.entity.js';
import { InboxRepository } from './inbox.repository.js';
import { ReceiptBatchesRepository, type SingleReceipt } from './receipt-batches.repository.js';
import { QUEUED_EVENTS, workOn } from './inbox-processing.js';
import {
  type Arrival,
  NOT_STORED,
  type ReadReceipt,
  type SettledEvent,
  principalOf,
} from './receipt.js';
import { Settlement } from './settlement.js';
import { overEntries, unknownSeverityEntries } from './further-reports.js';

export type Receipt =
  | { readonly status: 'accepted'; readonly events: readonly SettledEvent[] }
  | { readonly status: 'queued' | 'empty'; readonly id: string };

/** Bodies with more events share two places for settling, because they take longer. */
const FEW = 10;
/** Bodies of this size or more take several milliseconds to read. */
const LARGE_BYTES = 65_536;
/** Bodies of this size or more may have so many lines or events that reading them takes several milliseconds. */
const MANY_LINES_BYTES = 4_096;

/**
 * Stores bodies with a valid signature. The answer follows the commit of the body with its incidents. When more receipts are in
 * progress than WEBHOOK_SYNC_LIMIT allows, only the body is committed, and a worker creates the incidents.
 */
@Injectable()
export class WebhookReceipts {
  private readonly log = new Logger('Webhooks');
  private readonly newOnes = new Batcher<SingleReceipt, SettledEvent | undefined>((singles) =>
    this.insertNew(singles),
  );
  private readonly repeatedOnes = new Batcher<SingleReceipt, SettledEvent | undefined>((singles) =>
    this.insertRepeated(singles),
  );
  private readonly queue = new Batcher<Arrival, string>((arrivals) => this.queueAll(arrivals));
  /** A body of many events holds a database connection for long. This leaves connections to other requests. */
  private readonly manyEvents = new Semaphore(2);
  private readonly turns = new LoopTurns();
  private underWay = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly batches: ReceiptBatchesRepository,
    private readonly inbox: InboxRepository,
    private readonly settlement: Settlement,
    private readonly creation: IncidentCreation,
    private readonly timeline: IncidentTimeline,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly limits: LimitCounter,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  async receive(verified: VerifiedReceipt): Promise<Receipt> {
    const { source } = verified;
    this.received.inc({ source: source.source });
    this.underWay += 1;
    try {
      return await this.take(verified);
    } catch (error) {
      this.errors.inc({ source: source.source, code: toAppError(error).code });
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }

  private async take({ source, bytes, isRepetition, isLines }: VerifiedReceipt): Promise<Receipt> {
    const json = isLines
      ? await this.inPieces(bytes, readEventLines(bytes))
      : await this.inTurn(bytes, () => readEventJson(bytes));
    const arrival = this.arrivalOf(source, bytes);
    const body = await this.inPieces(bytes, openBody(source, json));
    if (body.isEmpty) return await this.keepEmpty(arrival);
    const { count } = body;
    if (count > 1) {
      const account = accountOf(source, isRepetition);
      await this.limits.add(webhookLimit(this.settings), account, count - 1);
    }
    const isBusy = this.underWay > this.settings.webhookSyncLimit;
    if (isBusy || count > MOST_EVENTS) {
      return { status: 'queued', id: await this.queue.submit(arrival) };
    }
    const events = await this.inTurn(bytes, () => this.read(body, arrival));
    if (!events) return { status: 'queued', id: await this.queue.submit(arrival) };
    if (isUnfit(events)) throw await this.refuse(arrival, events);
    const settled = await this.settle({ arrival, events });
    if (settled) return { status: 'accepted', events: settled };
    return { status: 'queued', id: await this.queue.submit(arrival) };
  }

  /** Gives the event loop to other requests between two pieces of work on a large body. */
  private async inTurn<T>(bytes: Buffer, work: () => T): Promise<T> {
    return bytes.length < LARGE_BYTES ? work() : await this.turns.run(work);
  }

  private async inPieces<T>(bytes: Buffer, pieces: Generator<void, T>): Promise<T> {
    return bytes.length < MANY_LINES_BYTES ? atOnce(pieces) : await this.turns.runInPieces(pieces);
  }

  /** `undefined` if reading one of the events fails. A worker then reads the other events. */
  private read(body: OpenBody, { id }: Arrival) {
    try {
      return body.read();
    } catch (error) {
      this.log.error({ err: error, event: id }, 'A webhook event was not read');
      return undefined;
    }
  }

  /** `undefined` if a worker must settle the body, for example because one of several events cannot be stored. */
  private async settle(read: ReadReceipt): Promise<readonly SettledEvent[] | undefined> {
    try {
      return (await this.settleSingle(read)) ?? (await this.settleAny(read));
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // The sender may never retry, so the body is kept.
      this.log.error({ err: error, event: read.arrival.id }, 'A webhook event was not stored');
      if (read.events.length > 1) return undefined;
      await this.keepFailed(read.arrival, NOT_STORED);
      throw error;
    }
  }

  /** Settles the usual cases in a batch: one new event, or one exact repetition. `undefined` for all other bodies. */
  private async settleSingle({
    arrival,
    events,
  }: ReadReceipt): Promise<SettledEvent[] | undefined> {
    const [event, ...others] = events;
    if (!event || others.length > 0) return undefined;
    const single = { arrival, event };
    const settled = (await this.newOnes.submit(single)) ?? (await this.repeatedOnes.submit(single));
    return settled && [settled];
  }

  /** `undefined` if bodies of the source are queued. They may have earlier states of the same events, so this body is queued, too. */
  private async settleAny(read: ReadReceipt): Promise<readonly SettledEvent[] | undefined> {
    const hasOrder = read.events.some(({ eventId }) => eventId !== undefined);
    const settle = () =>
      this.transactions.run(async (tx) => {
        const { source } = read.arrival;
        if (hasOrder && (await this.inbox.hasQueued(tx, source))) return undefined;
        const settled = await this.settlement.settle(tx, read);
        await this.inbox.insertSettled(tx, settled);
        return settled.events;
      });
    return await (read.events.length > FEW ? this.manyEvents.run(settle) : settle());
  }

  private async insertNew(
    singles: readonly SingleReceipt[],
  ): Promise<readonly (SettledEvent | undefined)[]> {
    const rows = singles.map(({ arrival, event }) =>
      this.creation.prepare(principalOf(arrival.source), incidentOf(event)),
    );
    const incidents = this.creation.valuesOf(rows);
    const entries = singles.flatMap(({ arrival, event }, index) => {
      const [id, by] = [rows[index]!.id, principalOf(arrival.source)];
      return [...unknownSeverityEntries(id, by, event), ...overEntries(id, by, event)];
    });
    const timeline = this.timeline.valuesOf(entries);
    const numbers = await this.batches.insertNew(singles, rows, incidents, timeline);
    this.creation.inserted(rows.filter(({ id }) => numbers.has(id)));
    return rows.map(({ id }) => {
      const incident_number = numbers.get(id);
      return incident_number ? { outcome: 'created', incident_id: id, incident_number } : undefined;
    });
  }

  private async insertRepeated(
    singles: readonly SingleReceipt[],
  ): Promise<readonly (SettledEvent | undefined)[]> {
    const rows = await this.batches.insertRepeated(singles);
    return singles.map(({ arrival }) => {
      const { incident_id, incident_number } = rows.get(arrival.id) ?? {};
      return incident_id && incident_number
        ? { outcome: 'duplicate', incident_id, incident_number }
        : undefined;
    });
  }

  private async queueAll(arrivals: readonly Arrival[]): Promise<readonly string[]> {
    return await this.transactions.run(async (tx) => {
      const ids = await this.inbox.queue(tx, arrivals);
      const sources = arrivals.map(({ source }) => source);
      await this.work.add(tx, QUEUED_EVENTS, ...workOn(sources));
      return ids;
    });
  }

  private async keepEmpty(arrival: Arrival): Promise<Receipt> {
    await this.transactions.run((tx) => this.inbox.insertSettled(tx, { arrival, events: [] }));
    return { status: 'empty', id: arrival.id };
  }

  /** Keeps the body as a failed event, so that analysts see it and can replay it. */
  private async refuse(arrival: Arrival, message: string): Promise<AppError> {
    const event_id = await this.keepFailed(arrival, message);
    const errors = [{ field: '', code: 'unknown_format', message }];
    return new AppError('validation_error', message, { details: { errors, event_id } });
  }

  private async keepFailed(arrival: Arrival, error: string): Promise<string> {
    return await this.transactions.run((tx) => this.settlement.keepFailed(tx, arrival, error));
  }

  private arrivalOf({ source }: WebhookSource, body: Buffer): Arrival {
    const received_at = this.clock.now();
    const body_hash = hash('sha256', body, 'buffer');
    return { id: newId(received_at.getTime()), source, body, body_hash, received_at };
  }
}
