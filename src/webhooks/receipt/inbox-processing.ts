import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import type { Repository } from 'typeorm';
import { AuditLog } from '../../audit/audit-log.js';
import type { Principal } from '../../auth/principal.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { isDatabaseUnavailable, isLostRace } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { AppError, NotFoundError, toAppError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { isUuid } from '../../platform/ids.js';
import { AgainOutcome, type Kind, type NewWork } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { type SettlingProgress, WebhookEventEntity } from '../events/webhook-event.entity.js';
import { WebhookEvents } from '../events/webhook-events.js';
import { readEventJson } from '../reading/event-json.js';
import { isUnfit, openBody, type OpenBody } from '../reading/read-events.js';
import { WebhookSourceEntity } from '../sources/webhook-source.entity.js';
import { InboxRepository, type UnsettledEvent } from './inbox.repository.js';
import {
  afterFailure,
  afterPart,
  ending,
  incidentsOf,
  NOT_STORED,
  NOTHING_DONE,
  type SettledEvent,
} from './receipt.js';
import { Settlement } from './settlement.js';

interface Queue {
  readonly source: string;
}

export const QUEUED_EVENTS = { name: 'webhook-events' } as Pick<Kind<Queue>, 'name'>;

/** One work row per source, so that the events of a source are settled in the order of receipt. */
export function workOn(sources: readonly string[]): NewWork<Queue>[] {
  return [...new Set(sources)]
    .sort()
    .map((source) => ({ ref: hash('md5', source), data: { source } }));
}

const NO_SOURCE = 'Its source is no longer registered.';
const PLACES = 4;
const TURN_MS = 1_000;
/** Maximum number of bodies of a source that one transaction settles. */
const MOST_TOGETHER = 20;

/** Settles the events in the inbox: queued events, and failed events that an analyst replays. */
@Injectable()
export class InboxProcessing implements OnModuleInit {
  private readonly log = new Logger('Webhooks');
  private readonly turns = new LoopTurns();

  constructor(
    private readonly transactions: Transactions,
    private readonly inbox: InboxRepository,
    private readonly events: WebhookEvents,
    private readonly settlement: Settlement,
    private readonly audit: AuditLog,
    private readonly work: Work,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  onModuleInit(): void {
    this.work.define<Queue, void>({
      ...QUEUED_EVENTS,
      places: PLACES,
      one: ({ data, signal }) => this.processQueued(data.source, signal),
    });
  }

  /** Retries a failed event. Queues the rest of a large body. */
  async replay(
    caller: Principal,
    id: string,
    idempotency: Participant<WebhookEventEntity>,
  ): Promise<WebhookEventEntity> {
    if (!isUuid(id)) throw new NotFoundError('Webhook event');
    const replay = (canSettle: boolean) =>
      this.transactions.run<WebhookEventEntity>(
        (tx) => this.replayIn(tx, caller, id, canSettle),
        caller,
        idempotency,
      );
    try {
      return await replay(true);
    } catch (error) {
      if (error instanceof AppError || isDatabaseUnavailable(error)) throw error;
      this.log.error({ err: error, event: id }, 'A replayed webhook event was not stored');
      // A worker settles the events separately.
      return await replay(false);
    }
  }

  private async replayIn(
    tx: Tx,
    caller: Principal,
    id: string,
    canSettle: boolean,
  ): Promise<WebhookEventEntity> {
    const event = await this.inbox.lock(tx, id);
    if (!event) throw new NotFoundError('Webhook event');
    const { status, source } = event;
    if (status !== 'failed') {
      const message = `The event is ${status}: only a failed event can be replayed.`;
      throw new AppError('invalid_state', message, { details: { status } });
    }
    const isOver = canSettle && (await this.process(tx, event));
    if (!isOver) {
      await this.change(tx, id, { status: 'queued', error: null, processed_at: null });
      await this.work.add(tx, QUEUED_EVENTS, ...workOn([source]));
    }
    await this.audit.record(tx, {
      actor: caller.name,
      action: 'webhook_event.replayed',
      subject: { type: 'webhook_event', id },
      details: { source },
    });
    return await this.events.get(id, tx);
  }

  private async processQueued(source: string, signal: AbortSignal): Promise<void | AgainOutcome> {
    const begun = performance.now();
    while (performance.now() - begun < TURN_MS) {
      signal.throwIfAborted();
      if (!(await this.processNext(source, MOST_TOGETHER))) return undefined;
    }
    return new AgainOutcome({ inMs: 0, countsAsAttempt: false });
  }

  /**
   * Settles the bodies of a source in the order of receipt, because their events may be about the same incident. Waits for another
   * worker that has locked the first body. Returns false if no body is queued.
   */
  private async processNext(source: string, most: number): Promise<boolean> {
    let taken: readonly UnsettledEvent[] = [];
    try {
      return await this.transactions.run(async (tx) => {
        taken = await this.inbox.lockFirst(tx, source, most);
        for (const event of taken) if (!(await this.process(tx, event))) break;
        return taken.length > 0;
      });
    } catch (error) {
      const [first, ...others] = taken;
      // The work engine retries the work.
      if (!first || isDatabaseUnavailable(error) || isLostRace(error)) throw error;
      if (others.length > 0) return await this.processNext(source, 1);
      this.log.error({ err: error, event: first.id }, 'A webhook event was not stored');
      const { code } = toAppError(error);
      await this.transactions.run((tx) => this.continueAfterFailure(tx, first.id, code));
      return true;
    }
  }

  /** Settles the next part of the body. Returns false if the body has more parts. */
  private async process(tx: Tx, event: UnsettledEvent): Promise<boolean> {
    const body = await this.openIn(tx, event);
    if (!body) return await this.fail(tx, event, 'unknown_source', NO_SOURCE);
    if (body.isEmpty) return await this.goOn(tx, event, NOTHING_DONE, 0);
    const before = event.progress ?? NOTHING_DONE;
    const events = body.read(before);
    if (isUnfit(events)) return await this.fail(tx, event, 'validation_error', events);
    const settled = await this.settlement.settle(tx, event, events);
    return await this.goOn(tx, event, afterPart(before, settled), body.count, settled.events);
  }

  /** Stores the progress in the transaction that settles the part, so that a crash neither repeats nor loses a part. */
  private async goOn(
    tx: Tx,
    event: UnsettledEvent,
    progress: SettlingProgress,
    total: number,
    settled: readonly SettledEvent[] = [],
  ): Promise<boolean> {
    // A body that is settled from its start begins a new list.
    const incident_ids = incidentsOf(settled, event.progress ? event.incident_ids : []);
    const isOver = progress.done >= total;
    if (isOver) await this.end(tx, event, { ...ending(progress, total), incident_ids });
    else await this.change(tx, event.id, { progress, incident_ids });
    return isOver;
  }

  /** Halves the part that failed, or skips a single event. */
  private async continueAfterFailure(tx: Tx, id: string, code: ErrorCode): Promise<void> {
    const event = await this.inbox.lock(tx, id);
    if (event?.status !== 'queued') return;
    const total = (await this.openIn(tx, event))?.count ?? 1;
    const before = event.progress ?? NOTHING_DONE;
    const size = Math.min(before.most, total - before.done);
    await this.goOn(tx, event, afterFailure(before, size), total);
    if (size <= 1) this.tell(tx, event, code, NOT_STORED);
  }

  /** Reads on the connection of the transaction, because a small pool has no second connection. */
  private async openIn(tx: Tx, event: UnsettledEvent): Promise<OpenBody | undefined> {
    const source = await tx.getRepository(WebhookSourceEntity).findOneBy({ source: event.source });
    if (!source) return undefined;
    return await this.turns.run(() => openBody(source, readEventJson(event.body)));
  }

  private async fail(tx: Tx, event: UnsettledEvent, code: ErrorCode, error: string): Promise<true> {
    await this.end(tx, event, { status: 'failed', error });
    this.tell(tx, event, code, error);
    return true;
  }

  /** Reports the failure in metrics and log, because the sender has already received 202. */
  private tell(tx: Tx, { id, source, status }: UnsettledEvent, code: ErrorCode, why: string): void {
    if (status !== 'queued') return;
    afterCommit(tx, () => {
      // The name of an unregistered source would remain as a label of the metrics.
      this.errors.inc({ source: code === 'unknown_source' ? 'other' : source, code });
      this.log.warn({ event: id, source, code }, `A queued webhook event failed: ${why}`);
    });
  }

  /** Notifies only for a queued event, because an analyst who replays a failed event sees the outcome in the response. */
  private async end(
    tx: Tx,
    event: UnsettledEvent,
    end: Partial<WebhookEventEntity> & Pick<WebhookEventEntity, 'error'>,
  ): Promise<void> {
    const { id, status } = event;
    if (end.error && status === 'queued') await this.inbox.notifyFailure(tx, event, end.error);
    const [attempts, processed_at] = [() => 'attempts + 1', () => 'now()'];
    await this.change(tx, id, { ...end, progress: null, attempts, processed_at });
  }

  private async change(
    tx: Tx,
    id: string,
    change: Parameters<Repository<WebhookEventEntity>['update']>[1],
  ): Promise<void> {
    await tx.getRepository(WebhookEventEntity).update({ id }, change);
  }
}
