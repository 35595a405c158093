import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { AuditLog } from '../../audit/audit-log.js';
import type { Principal } from '../../auth/principal.js';
import { Clock } from '../../platform/clock.js';
import { isDatabaseUnavailable, isLostRace } from '../../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { toAppError } from '../../platform/errors/to-app-error.js';
import { isUuid } from '../../platform/ids.js';
import { defineQueue } from '../../platform/jobs/job-queue.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import type { WebhookEventEntity } from '../events/webhook-event.entity.js';
import type { WebhookEventWithBody } from '../events/webhook-event.js';
import { WebhookEventsRepository } from '../events/webhook-events.repository.js';
import { readEventJson } from '../reading/event-json.js';
import { MOST_EVENTS } from '../mapping/mapping-rules.js';
import { countEvents, isUnfit, readEvents } from '../reading/read-events.js';
import { SourceDirectory } from '../sources/source-directory.js';
import { InboxRepository } from './inbox.repository.js';
import { NO_SOURCE, NOT_STORED } from './receipt.errors.js';
import { forgottenBefore } from './forgotten-events.js';
import type { Arrival } from './receipt.js';
import { Settlement } from './settlement.js';
import {
  afterFailure,
  afterPart,
  nextPart,
  NOTHING_DONE,
  type SettlingProgress,
} from './settling-progress.js';

export const QUEUED_EVENTS = defineQueue<{ readonly eventId: string }>('webhook-events');

const CONCURRENCY = 4;
const SWEEP_SECONDS = 60;
const MOST_AT_ONCE = 1_000;

/** Why an event in the inbox failed, and as what that counts. */
interface Failure {
  /** Absent when it is not registered: its name would stay a label for ever. */
  readonly source?: string;
  readonly code: ErrorCode;
  readonly why: string;
}

/** Works on what is in the inbox already: what was only queued when it arrived, and what an analyst wants tried again. */
@Injectable()
export class InboxProcessing implements OnModuleInit {
  private readonly log = new Logger('Webhooks');
  private readonly startedAt: Date;

  constructor(
    private readonly transactions: Transactions,
    private readonly inbox: InboxRepository,
    private readonly events: WebhookEventsRepository,
    private readonly sources: SourceDirectory,
    private readonly settlement: Settlement,
    private readonly audit: AuditLog,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {
    this.startedAt = clock.now();
  }

  onModuleInit(): void {
    this.jobs.work(QUEUED_EVENTS, ({ eventId }) => this.processQueued(eventId), {
      concurrency: CONCURRENCY,
    });
    this.jobs.every('webhook-events-forgotten', SWEEP_SECONDS, () => this.queueForgotten());
  }

  /** Tries a failed event again, and answers when that has ended: it may have failed again. A body of many events waits. */
  async replay(
    caller: Principal,
    id: string,
    idempotency: Participant<WebhookEventWithBody>,
  ): Promise<WebhookEventWithBody> {
    if (!isUuid(id)) throw new NotFoundError('Webhook event');
    return await this.transactions.run<WebhookEventWithBody>(
      async (tx) => {
        const event = await this.inbox.lock(tx, id);
        if (!event) throw new NotFoundError('Webhook event');
        if (event.status !== 'failed') {
          const message = `The event is ${event.status}: only a failed one is tried again.`;
          throw new AppError('invalid_state', message, { details: { status: event.status } });
        }
        if (event.body && (await this.hasMany(event, event.body))) {
          await this.inbox.requeue(tx, id);
          await this.jobs.enqueue(tx, QUEUED_EVENTS, { eventId: event.id });
        } else await this.process(tx, event);
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'webhook_event.replayed',
          subject: { type: 'webhook_event', id: event.id },
          details: { source: event.source },
        });
        return (await this.events.findById(event.id, tx))!;
      },
      caller,
      idempotency,
    );
  }

  private async processQueued(id: string): Promise<void> {
    let failure: Failure | undefined;
    let source: string | undefined;
    try {
      failure = await this.transactions.run(async (tx) => {
        const event = await this.inbox.lock(tx, id);
        source = event?.source;
        // Another worker was faster, or an earlier attempt died after its commit.
        return event?.status === 'queued' ? await this.process(tx, event) : undefined;
      });
    } catch (error) {
      // Then it is tried again.
      if (isDatabaseUnavailable(error) || isLostRace(error)) throw error;
      this.log.error({ err: error, event: id }, 'A webhook event was not stored');
      failure = { source, code: toAppError(error).code, why: NOT_STORED };
      if (await this.transactions.run((tx) => this.continueAfterFailure(tx, id))) return;
    }
    if (failure) this.tell(id, failure);
  }

  /** Its sender was told that it is accepted, so only this says that nobody could read it. */
  private tell(event: string, { source = 'other', code, why }: Failure): void {
    this.errors.inc({ source, code });
    this.log.warn({ event, source, code }, `A queued webhook event failed: ${why}`);
  }

  /** Answers why it failed, if it did. */
  private async process(tx: Tx, event: WebhookEventEntity): Promise<Failure | undefined> {
    const arrival = arrivalOf(event);
    const source = await this.sources.find(event.source);
    if (!source) return await this.fail(tx, event, { code: 'unknown_source', why: NO_SOURCE });
    const json = readEventJson(arrival.body);
    const progress = event.progress ?? NOTHING_DONE;
    const events = readEvents(source, json, nextPart(progress));
    if (isUnfit(events)) {
      const { why } = events;
      return await this.fail(tx, event, { source: event.source, code: 'validation_error', why });
    }
    const settled = await this.settlement.settle(tx, { arrival, events });
    const total = countEvents(source, json);
    if (!event.progress && events.length === total) await this.inbox.updateSettled(tx, settled);
    else await this.goOn(tx, event.id, afterPart(progress, settled.events, settled.repeats), total);
    return undefined;
  }

  /** Each part ends with the job of the next one, in its transaction: a crash repeats no part and loses none. */
  private async goOn(tx: Tx, id: string, progress: SettlingProgress, total: number): Promise<void> {
    if (progress.done >= total) return await this.inbox.endProgress(tx, id, progress, total);
    await this.inbox.keepProgress(tx, id, progress);
    await this.jobs.enqueue(tx, QUEUED_EVENTS, { eventId: id });
  }

  /** False if the failure is that of one event, which is left out. */
  private async continueAfterFailure(tx: Tx, id: string): Promise<boolean> {
    const event = await this.inbox.lock(tx, id);
    if (event?.status !== 'queued' || !event.body) return true;
    const total = await this.countIn(event, event.body);
    const before = event.progress ?? NOTHING_DONE;
    const size = Math.min(before.most, total - before.done);
    if (total > 1) await this.goOn(tx, id, afterFailure(before, size), total);
    else await this.inbox.markFailed(tx, id, NOT_STORED);
    return size > 1;
  }

  private async hasMany(event: WebhookEventEntity, body: Buffer): Promise<boolean> {
    return (await this.countIn(event, body)) > MOST_EVENTS;
  }

  private async countIn({ source: name }: WebhookEventEntity, body: Buffer): Promise<number> {
    const source = await this.sources.find(name);
    return source ? countEvents(source, readEventJson(body)) : 1;
  }

  private async fail(tx: Tx, { id }: WebhookEventEntity, failure: Failure): Promise<Failure> {
    await this.inbox.markFailed(tx, id, failure.why);
    return failure;
  }

  private async queueForgotten(): Promise<void> {
    const ids = await this.inbox.queuedBefore(
      forgottenBefore(this.clock.now(), this.startedAt),
      MOST_AT_ONCE,
    );
    for (const eventId of ids) {
      await this.transactions.run((tx) =>
        this.jobs.enqueue(tx, QUEUED_EVENTS, { eventId }, { singletonKey: eventId }),
      );
    }
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
