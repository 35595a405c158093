import { Logger } from '@nestjs/common';
import type { Transactions } from '../../database/transactions.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';
import type { Jobs } from '../jobs.js';
import {
  batchesFor,
  type EventBatch,
  eventFrom,
  type EventListener,
  type EventMessage,
} from './domain-event.js';
import type { EventOutbox } from './event-outbox.js';
import type { UnhandledEvents } from './unhandled-events.js';
import type { JobContext } from '../job-queue.js';
import { presentTime } from '../../clock.js';

/** For the events of replicas that were killed between their commit and their relay's next look. */
const POLL_MS = 500;
const MOST_EVENTS = 500;

/** Under load a round costs as much as a batch of changes, so that not each batch has a round of its own. */
const REST_MS = 25;

/**
 * Moves events from the outbox to the queues of their handlers, in one transaction: each event reaches each of its
 * handlers' queues exactly once, whoever is killed when. Every replica relays; one skips what another is taking.
 */
export class EventRelay {
  private readonly log = new Logger('DomainEvents');
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly outbox: EventOutbox,
    private readonly transactions: Transactions,
    private readonly jobs: Jobs,
    private readonly unhandled: UnhandledEvents,
    private readonly listeners: readonly EventListener[],
  ) {
    this.loop = new BackgroundLoop(
      { task: 'Passing events on', log: this.log, pauseMs: POLL_MS, restMs: REST_MS },
      () => this.relayAll(),
    );
  }

  start(): void {
    this.loop.start();
  }

  wake(): void {
    this.loop.wake();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async relayAll(): Promise<void> {
    if (!this.jobs.started || (await this.outbox.isEmpty())) return;
    while ((await this.relaySome()) === MOST_EVENTS);
  }

  private relaySome(): Promise<number> {
    return this.transactions.run(async (tx) => {
      const events = await this.outbox.take(tx, MOST_EVENTS);
      for (const listener of this.listeners) {
        const batches = batchesFor(listener, events);
        await this.jobs.enqueueMany(tx, listener.queue, batches);
        if (!listener.inBackup) continue;
        const sent = batches.flatMap((batch) => batch.events);
        await this.unhandled.note(tx, listener.name, sent);
      }
      return events.length;
    });
  }
}

/** The work of a handler's queue: gives it the events of a batch, one after the other. */
export class EventDelivery {
  private readonly log = new Logger('DomainEvents');

  constructor(
    private readonly jobs: Jobs,
    private readonly transactions: Transactions,
    private readonly unhandled: UnhandledEvents,
  ) {}

  async deliver(listener: EventListener, { events }: EventBatch, job: JobContext): Promise<void> {
    // The first attempt died in the middle, and one of these may be why: from now on each is for itself.
    const apart = 'one' in listener.handler && events.length > 1;
    if (apart && job.attempt > 1) return await this.deliverAlone(listener, events);
    const failed = await this.handle(listener, events, job);
    if (listener.inBackup) {
      const handled = events.filter((event) => !failed.includes(event));
      await this.unhandled.forget(listener.name, handled);
    }
    await this.deliverAlone(listener, failed, listener.queue.retryDelaySeconds);
  }

  /** Answers those of several that were not handled; a failure with a single one, or with all together, fails the job. */
  private async handle(
    { name, handler }: EventListener,
    events: readonly EventMessage[],
    job: JobContext,
  ): Promise<EventMessage[]> {
    if ('all' in handler) {
      await handler.all(events.map(eventFrom));
      return [];
    }
    const [only, ...others] = events;
    if (only && others.length === 0) {
      await handler.one(eventFrom(only));
      return [];
    }
    const failed: EventMessage[] = [];
    for (const event of events) {
      job.signal.throwIfAborted();
      try {
        await handler.one(eventFrom(event));
      } catch (error) {
        this.log.warn(
          { err: error, handler: name, event: event.id, type: event.type },
          'An event was not handled; it is tried again on its own.',
        );
        failed.push(event);
      }
    }
    return failed;
  }

  private async deliverAlone(
    { queue }: EventListener,
    events: readonly EventMessage[],
    delaySeconds = 0,
  ): Promise<void> {
    if (events.length === 0) return;
    const runAt = new Date(presentTime() + delaySeconds * 1_000);
    await this.transactions.run((tx) =>
      this.jobs.enqueueMany(
        tx,
        queue,
        events.map((event) => ({ events: [event] })),
        { runAt },
      ),
    );
  }
}
