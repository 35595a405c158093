import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { AuditLog } from '../../audit/audit-log.js';
import type { Principal } from '../../auth/principal.js';
import { Clock } from '../../platform/clock.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { isDatabaseUnavailable, isLostRace } from '../../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { AppError, NotFoundError, toAppError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { isUuid } from '../../platform/ids.js';
import { AgainOutcome, type Kind, type NewWork } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import type { WebhookEventEntity } from '../events/webhook-event.entity.js';
import type { WebhookEventWithBody } from '../events/webhook-event.js';
import { WebhookEventsRepository } from '../events/webhook-events.repository.js';
import { readEventLines } from '../reading/event-json.js';
import { MOST_EVENTS } from '../mapping/mapping-rules.js';
import { isUnfit, openBody, type OpenBody, wordsOf } from '../reading/read-events.js';
import { WebhookSourcesRepository, sourceOf } from '../sources/webhook-sources.repository.js';
import type { WebhookSource } from '../sources/webhook-source.js';
import { FailedReceipts } from './failed-receipts.js';
import { InboxRepository } from './inbox.repository.js';
import { NOT_STORED, NO_SOURCE } from '../webhook.errors.js';
import type { Arrival, SettledEvent } from './receipt.js';
import { Settlement } from './settlement.js';
import {
  NOTHING_DONE,
  type SettlingProgress,
  afterFailure,
  afterPart,
  ending,
  nextPart,
} from './settling-progress.js';

interface Queue {
  readonly source: string;
}

/** Work on the queued events of a source. */
export const QUEUED_EVENTS = { name: 'webhook-events' } as Pick<Kind<Queue>, 'name'>;

/** One row of work for each source: its events are settled in the order of their receipt. */
export function workOn(sources: readonly string[]): NewWork<Queue>[] {
  return [...new Set(sources)]
    .sort()
    .map((source) => ({ ref: hash('md5', source), data: { source } }));
}

const PLACES = 4;
/** Then other sources have their turn. */
const TURN_MS = 1_000;
/** Another worker settles the next event, for example one that lost its claim. */
const LOCKED_MS = 500;
/** Maximum number of bodies of a source that one transaction settles. */
const MOST_TOGETHER = 20;

/** Reason why a queued event failed, with the error code for the metrics. */
interface Failure {
  readonly event: string;
  /** Absent for an unregistered source, because its name would stay a label of the metrics. */
  readonly source?: string;
  readonly code: ErrorCode;
  readonly why: string;
}

interface Settled {
  readonly failures: readonly Failure[];
  readonly isLocked: boolean;
}

/** Settles the events in the inbox: queued events, and failed events that an analyst replays. */
@Injectable()
export class InboxProcessing implements OnModuleInit {
  private readonly log = new Logger('Webhooks');
  private readonly bodies = new StoredBodies();

  constructor(
    private readonly transactions: Transactions,
    private readonly inbox: InboxRepository,
    private readonly events: WebhookEventsRepository,
    private readonly sources: WebhookSourcesRepository,
    private readonly failed: FailedReceipts,
    private readonly settlement: Settlement,
    private readonly audit: AuditLog,
    private readonly work: Work,
    private readonly clock: Clock,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  onModuleInit(): void {
    this.work.define<Queue, void>({
      ...QUEUED_EVENTS,
      places: PLACES,
      one: ({ data, signal }) => this.processQueued(data.source, signal),
    });
  }

  /** Retries a failed event and answers with the outcome, which may be another failure. A large body is queued. */
  async replay(
    caller: Principal,
    id: string,
    idempotency: Participant<WebhookEventWithBody>,
  ): Promise<WebhookEventWithBody> {
    if (!isUuid(id)) throw new NotFoundError('Webhook event');
    const replay = (canSettle: boolean) =>
      this.transactions.run<WebhookEventWithBody>(
        (tx) => this.replayIn(tx, caller, id, canSettle),
        caller,
        idempotency,
      );
    try {
      return await replay(true);
    } catch (error) {
      if (error instanceof AppError || isDatabaseUnavailable(error)) throw error;
      this.log.error({ err: error, event: id }, 'A replayed webhook event was not stored');
      return await replay(false);
    }
  }

  /** If `canSettle` is false, a worker settles the events one by one, because one of them cannot be stored. */
  private async replayIn(
    tx: Tx,
    caller: Principal,
    id: string,
    canSettle: boolean,
  ): Promise<WebhookEventWithBody> {
    const event = await this.inbox.lock(tx, id);
    if (!event) throw new NotFoundError('Webhook event');
    if (event.status !== 'failed') {
      const message = `The event is ${event.status}: only a failed event can be replayed.`;
      throw new AppError('invalid_state', message, { details: { status: event.status } });
    }
    const total = event.body ? await this.countIn(tx, event, event.body) : 1;
    if (total > MOST_EVENTS || (total > 1 && !canSettle)) {
      await this.inbox.requeue(tx, id);
      await this.work.add(tx, QUEUED_EVENTS, ...workOn([event.source]));
    } else if (canSettle) await this.process(tx, event);
    else await this.inbox.markFailed(tx, id, NOT_STORED);
    await this.audit.record(tx, {
      actor: caller.name,
      action: 'webhook_event.replayed',
      subject: { type: 'webhook_event', id },
      details: { source: event.source },
    });
    return (await this.events.findById(id, tx))!;
  }

  private async processQueued(source: string, signal: AbortSignal): Promise<void | AgainOutcome> {
    const begun = performance.now();
    while (performance.now() - begun < TURN_MS) {
      signal.throwIfAborted();
      const settled = await this.processNext(source, MOST_TOGETHER);
      if (!settled) return undefined;
      if (settled.isLocked) return new AgainOutcome({ inMs: LOCKED_MS, countsAsAttempt: false });
      for (const failure of settled.failures) this.tell(failure);
    }
    return new AgainOutcome({ inMs: 0, countsAsAttempt: false });
  }

  /**
   * Settles the bodies of a source in the order of their receipt, because their events may be about one incident. Does nothing
   * while another worker has locked the first body. Returns undefined if none is queued.
   */
  private async processNext(source: string, most: number): Promise<Settled | undefined> {
    let taken: readonly WebhookEventEntity[] = [];
    try {
      return await this.transactions.run(async (tx) => {
        const first = await this.inbox.lockFirst(tx, source, most);
        if (!first) return undefined;
        taken = first;
        const failures: Failure[] = [];
        for (const event of taken) {
          const outcome = await this.process(tx, event);
          if (outcome === 'goes on') break;
          if (outcome) failures.push(outcome);
        }
        return { failures, isLocked: taken.length === 0 };
      });
    } catch (error) {
      // The work is tried again.
      if (isDatabaseUnavailable(error) || isLostRace(error)) throw error;
      const [first, ...others] = taken;
      if (!first) throw error;
      if (others.length > 0) return await this.processNext(source, 1);
      this.log.error({ err: error, event: first.id }, 'A webhook event was not stored');
      const goesOn = await this.transactions.run((tx) => this.continueAfterFailure(tx, first.id));
      const failure = { event: first.id, source, code: toAppError(error).code, why: NOT_STORED };
      return { failures: goesOn ? [] : [failure], isLocked: false };
    }
  }

  /** Reports the failure in metrics and log, because the sender was answered 202. */
  private tell({ event, source = 'other', code, why }: Failure): void {
    this.errors.inc({ source, code });
    this.log.warn({ event, source, code }, `A queued webhook event failed: ${why}`);
  }

  /** Returns the failure, or `goes on` after a part of a large body that has more parts. */
  private async process(
    tx: Tx,
    event: WebhookEventEntity,
  ): Promise<Failure | 'goes on' | undefined> {
    const arrival = arrivalOf(event);
    const source = await this.sourceIn(tx, event);
    if (!source)
      return await this.fail(tx, event, {
        event: event.id,
        code: 'unknown_source',
        why: NO_SOURCE,
      });
    const body = await this.bodies.open(source, arrival);
    if (body.isEmpty) {
      await this.inbox.updateSettled(tx, { arrival, events: [] });
      return undefined;
    }
    const progress = event.progress ?? NOTHING_DONE;
    const events = body.read(nextPart(progress));
    if (isUnfit(events)) {
      const why = wordsOf(events);
      const code = 'validation_error';
      return await this.fail(tx, event, { event: event.id, source: event.source, code, why });
    }
    const settled = await this.settlement.settle(tx, { arrival, events });
    const total = body.count;
    if (event.progress || events.length < total) {
      const after = afterPart(progress, settled.events, settled.repeats);
      return await this.goOn(tx, event, after, settled.events, total);
    }
    await this.inbox.updateSettled(tx, settled);
    return undefined;
  }

  /** Stores the progress of a part in the transaction that settles it, so that a crash neither repeats nor loses a part. */
  private async goOn(
    tx: Tx,
    event: WebhookEventEntity,
    progress: SettlingProgress,
    settled: readonly SettledEvent[],
    total: number,
  ): Promise<'goes on' | undefined> {
    const { id } = event;
    if (progress.done >= total) {
      this.bodies.forget(id);
      const { error } = ending(progress, total);
      if (error) await this.failed.tell(tx, event, error);
      await this.inbox.endProgress(tx, event, progress, settled, total);
      return undefined;
    }
    await this.inbox.keepProgress(tx, event, progress, settled);
    return 'goes on';
  }

  /** Returns false if a single event failed and is left out. */
  private async continueAfterFailure(tx: Tx, id: string): Promise<boolean> {
    const event = await this.inbox.lock(tx, id);
    if (event?.status !== 'queued' || !event.body) return true;
    const total = await this.countIn(tx, event, event.body);
    const before = event.progress ?? NOTHING_DONE;
    const size = Math.min(before.most, total - before.done);
    if (total > 1) await this.goOn(tx, event, afterFailure(before, size), [], total);
    else {
      await this.failed.tell(tx, event, NOT_STORED);
      await this.inbox.markFailed(tx, id, NOT_STORED);
    }
    return size > 1;
  }

  private async countIn(tx: Tx, event: WebhookEventEntity, body: Buffer): Promise<number> {
    const source = await this.sourceIn(tx, event);
    return source ? (await this.bodies.open(source, { id: event.id, body })).count : 1;
  }

  /** Reads on the connection of the transaction, because a small pool has no second connection. */
  private async sourceIn(
    tx: Tx,
    { source }: WebhookEventEntity,
  ): Promise<WebhookSource | undefined> {
    const row = await this.sources.find(source, tx);
    return row && sourceOf(row, this.clock.now());
  }

  private async fail(tx: Tx, event: WebhookEventEntity, failure: Failure): Promise<Failure> {
    await this.failed.tell(tx, event, failure.why);
    await this.inbox.markFailed(tx, event.id, failure.why);
    return failure;
  }
}

function arrivalOf(event: WebhookEventEntity): Arrival {
  if (!event.body) throw new Error('What waits or has failed has its body.');
  return {
    id: event.id,
    source: event.source,
    body: event.body,
    bodyHash: event.body_hash,
    receivedAt: event.received_at,
  };
}

/** Maximum number of large bodies that are kept in memory, and for how long. */
const MOST_KEPT = 2;
const KEPT_MS = 60_000;

/** Keeps a body that is settled in parts until its last part, so that it is not read again for each of them. */
class StoredBodies {
  private readonly turns = new LoopTurns();
  private readonly kept = new Map<string, { readonly rules: string; readonly opened: OpenBody }>();

  async open(source: WebhookSource, { id, body }: Pick<Arrival, 'id' | 'body'>): Promise<OpenBody> {
    const rules = JSON.stringify(source);
    const known = this.kept.get(id);
    if (known?.rules === rules) return known.opened;
    const json = await this.turns.runInPieces(readEventLines(body));
    const opened = await this.turns.runInPieces(openBody(source, json));
    if (opened.count > MOST_EVENTS) this.keep(id, { rules, opened });
    return opened;
  }

  forget(id: string): void {
    this.kept.delete(id);
  }

  private keep(id: string, body: { readonly rules: string; readonly opened: OpenBody }): void {
    const [oldest] = this.kept.keys();
    if (oldest !== undefined && this.kept.size >= MOST_KEPT) this.kept.delete(oldest);
    this.kept.set(id, body);
    // Another replica may settle the rest.
    setTimeout(() => {
      if (this.kept.get(id) === body) this.kept.delete(id);
    }, KEPT_MS).unref();
  }
}
