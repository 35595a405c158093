import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { IncidentCreation } from '../../incidents/incident-creation.js';
import { incidentNumber } from '../../incidents/incident.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { Clock } from '../../platform/clock.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { Transactions } from '../../platform/database/transactions.js';
import { LimitCounter } from '../../platform/limits/limit-counter.js';
import { toAppError } from '../../platform/errors/to-app-error.js';
import { newId } from '../../platform/ids.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { readEventJson } from '../reading/event-json.js';
import { MOST_EVENTS } from '../mapping/mapping-rules.js';
import type { Json } from '../reading/json.js';
import { countEvents, isUnfit, readEvents } from '../reading/read-events.js';
import type { VerifiedReceipt } from '../signatures/verified-receipt.js';
import { keyOfSource, webhookLimit } from '../signatures/webhook-limit.js';
import type { WebhookSource } from '../sources/webhook-source.js';
import { InboxRepository } from './inbox.repository.js';
import { ReceiptBatchesRepository, type SingleReceipt } from './receipt-batches.repository.js';
import { QUEUED_EVENTS } from './inbox-processing.js';
import { type Arrival, principalOf, type ReadReceipt, type SettledEvent } from './receipt.js';
import { Settlement } from './settlement.js';
import { unknownSeverityEntries } from './unknown-severity.js';
import { NOT_STORED, UnknownFormatError } from './receipt.errors.js';

export type Receipt =
  | { readonly status: 'accepted'; readonly events: readonly SettledEvent[] }
  | { readonly status: 'queued'; readonly id: string };

/** So many events of a body are settled in the time of a few. */
const FEW = 10;

/**
 * Takes in the bodies whose signature is valid. Nothing is answered before it is committed: the body with its incidents,
 * or, when more receipts are under way than may be, the body alone, of which a worker makes the incidents.
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
  /** A body of many events keeps a connection for long: others find the remaining ones free. */
  private readonly manyEvents = new Semaphore(2);
  private underWay = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly batches: ReceiptBatchesRepository,
    private readonly inbox: InboxRepository,
    private readonly settlement: Settlement,
    private readonly creation: IncidentCreation,
    private readonly timeline: IncidentTimeline,
    private readonly jobs: Jobs,
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

  private async take({ source, bytes, isRepetition }: VerifiedReceipt): Promise<Receipt> {
    const json = readEventJson(bytes);
    const arrival = this.arrivalOf(source, bytes);
    const count = countEvents(source, json);
    if (count > 1 && !isRepetition) {
      await this.limits.add(webhookLimit(this.settings), keyOfSource(source), count - 1);
    }
    const isBusy = this.underWay > this.settings.webhookSyncLimit;
    if (isBusy || count > MOST_EVENTS) {
      return { status: 'queued', id: await this.queue.submit(arrival) };
    }
    const events = this.read(source, json, arrival);
    if (!events) return { status: 'queued', id: await this.queue.submit(arrival) };
    if (isUnfit(events)) {
      throw new UnknownFormatError(events.why, await this.keepFailed(arrival, events.why));
    }
    const settled = await this.settle({ arrival, events });
    if (settled) return { status: 'accepted', events: settled };
    return { status: 'queued', id: await this.queue.submit(arrival) };
  }

  /** Undefined if reading one of the events fails: a worker then reads the others. */
  private read(source: WebhookSource, json: Json, { id }: Arrival) {
    try {
      return readEvents(source, json);
    } catch (error) {
      this.log.error({ err: error, event: id }, 'A webhook event was not read');
      return undefined;
    }
  }

  /** Undefined if one of several events cannot be stored: a worker then stores the others. */
  private async settle(read: ReadReceipt): Promise<readonly SettledEvent[] | undefined> {
    try {
      return (await this.settleSingle(read)) ?? (await this.settleAny(read));
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // It is not lost, although its sender may never try again.
      this.log.error({ err: error, event: read.arrival.id }, 'A webhook event was not stored');
      if (read.events.length > 1) return undefined;
      await this.keepFailed(read.arrival, NOT_STORED);
      throw error;
    }
  }

  /** The usual cases: one event that was never seen, or that is repeated as it was. Undefined for all others. */
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

  private async settleAny(read: ReadReceipt): Promise<readonly SettledEvent[]> {
    const settle = () =>
      this.transactions.run(async (tx) => {
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
      this.creation.prepare(principalOf(arrival.source), event.incident),
    );
    const insertion = this.creation.insertionOf(rows);
    const entries = singles.flatMap(({ arrival, event }, index) =>
      unknownSeverityEntries(rows[index]!.id, principalOf(arrival.source), event),
    );
    const timeline = this.timeline.valuesOf(entries);
    const numbers = await this.batches.insertNew(singles, insertion, timeline);
    this.creation.inserted(
      insertion,
      rows.filter(({ id }) => numbers.has(id)),
    );
    return rows.map(({ id, createdAt }) => {
      const number = numbers.get(id);
      if (number === undefined) return undefined;
      return {
        outcome: 'created',
        incidentId: id,
        incidentNumber: incidentNumber(number, createdAt),
      };
    });
  }

  private async insertRepeated(
    singles: readonly SingleReceipt[],
  ): Promise<readonly (SettledEvent | undefined)[]> {
    const rows = await this.batches.insertRepeated(singles);
    return singles.map(({ arrival }) => {
      const row = rows.get(arrival.id);
      return (
        row && {
          outcome: 'duplicate',
          incidentId: row.incident_id,
          incidentNumber: incidentNumber(row.number, row.created_at),
        }
      );
    });
  }

  private async queueAll(arrivals: readonly Arrival[]): Promise<readonly string[]> {
    return await this.transactions.run(async (tx) => {
      const ids = await this.inbox.queue(tx, arrivals);
      await this.jobs.enqueueMany(
        tx,
        QUEUED_EVENTS,
        [...new Set(ids)].map((eventId) => ({ eventId })),
      );
      return ids;
    });
  }

  private async keepFailed(arrival: Arrival, error: string): Promise<string> {
    return await this.transactions.run((tx) => this.inbox.keepFailed(tx, arrival, error));
  }

  private arrivalOf({ source }: WebhookSource, body: Buffer): Arrival {
    const receivedAt = this.clock.now();
    return {
      id: newId(receivedAt.getTime()),
      source,
      body,
      bodyHash: hash('sha256', body, 'buffer'),
      receivedAt,
    };
  }
}
