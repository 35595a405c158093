import { Logger } from '@nestjs/common';
import { isConnectionLost } from '../../database/sqlstate.js';
import type { Transactions, Tx } from '../../database/transactions.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';
import type { Jobs, JobContext } from '../jobs.js';
import {
  batchesOf,
  type DomainEvent,
  type EventBatch,
  eventFrom,
  eventsFor,
  type EventListener,
  type EventMessage,
} from './domain-event.js';
import type { EventOutbox } from './event-outbox.js';
import type { UnhandledEvents } from './handled-events.js';
import { presentTime } from '../../clock.js';

/** Poll interval for events of replicas that were killed after their commit. */
const POLL_MS = 500;
const MOST_EVENTS = 500;

/** Under load a relay round costs as much as a batch of changes, so several batches share one round. */
const REST_MS = 8;

/** A handler that waits longer for a lock would delay the events of all other handlers. */
const LOCK_PATIENCE_MS = 1_000;

/**
 * Moves events from the outbox to the queues of their handlers in one transaction, or runs handlers in it, so that each
 * event reaches each handler exactly once even if a process is killed. All replicas relay; each skips events that
 * another one is taking.
 */
export class EventRelay {
  private readonly log = new Logger('DomainEvents');
  private readonly loop: BackgroundLoop;
  private isWoken = false;

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

  /** Looks for new events at once. */
  wake(): void {
    this.isWoken = true;
    this.loop.wake();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async relayAll(): Promise<void> {
    if (!this.jobs.started) return;
    const isWoken = this.isWoken;
    this.isWoken = false;
    if (!isWoken && (await this.outbox.isEmpty())) return;
    while ((await this.relaySome()) === MOST_EVENTS);
  }

  private async relaySome(): Promise<number> {
    try {
      return await this.transactions.run((tx) =>
        this.passOn(tx, (listener, wanted) => this.handleIn(tx, listener, wanted)),
      );
    } catch (err) {
      if (isConnectionLost(err)) throw err;
      this.log.warn(
        { err },
        'A handler failed in the transaction of the outbox. Its events become jobs.',
      );
      return await this.transactions.run((tx) => this.passOn(tx, async (_, wanted) => wanted));
    }
  }

  /** @param handle returns the events that become jobs */
  private async passOn(
    tx: Tx,
    handle: (
      listener: EventListener,
      wanted: readonly DomainEvent[],
    ) => Promise<readonly DomainEvent[]>,
  ): Promise<number> {
    const events = await this.outbox.take(tx, MOST_EVENTS, LOCK_PATIENCE_MS);
    for (const listener of this.listeners) {
      const wanted = eventsFor(listener, events);
      const left = wanted.length > 0 ? await handle(listener, wanted) : [];
      await this.jobs.enqueueMany(tx, listener.queue, batchesOf(left));
      if (listener.inBackup) await this.unhandled.note(tx, listener.name, left);
    }
    return events.length;
  }

  private async handleIn(
    tx: Tx,
    { handler }: EventListener,
    wanted: readonly DomainEvent[],
  ): Promise<readonly DomainEvent[]> {
    if (!('one' in handler) || !handler.inTransaction) return wanted;
    return await handler.inTransaction(tx, wanted);
  }
}

/** Runs a handler on the events of a job. Events with the same subject run one after another. */
export class EventDelivery {
  private readonly log = new Logger('DomainEvents');

  constructor(
    private readonly jobs: Jobs,
    private readonly transactions: Transactions,
    private readonly unhandled: UnhandledEvents,
  ) {}

  async deliver(listener: EventListener, { events }: EventBatch, job: JobContext): Promise<void> {
    // The first attempt failed midway, perhaps because of one of these events. From now on each event has its own job.
    const apart = 'one' in listener.handler && events.length > 1;
    if (apart && job.attempt > 1) return await this.deliverAlone(listener, events);
    const failed = await this.handle(listener, events, job);
    if (listener.inBackup) {
      const handled = events.filter((event) => !failed.includes(event));
      await this.unhandled.forget(listener.name, handled);
    }
    await this.deliverAlone(listener, failed, listener.queue.retryDelaySeconds);
  }

  /** Returns the events that failed. The failure of a single event, or of all together, fails the job. */
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
    const handleInOrder = async (ofOne: readonly EventMessage[]): Promise<void> => {
      for (const event of ofOne) {
        job.signal.throwIfAborted();
        try {
          await handler.one(eventFrom(event));
        } catch (error) {
          this.log.warn(
            { err: error, handler: name, event: event.id, type: event.type },
            'An event handler failed. The event is retried in its own job.',
          );
          failed.push(event);
        }
      }
    };
    const bySubject = Map.groupBy(events, ({ subject }) => `${subject.type} ${subject.id}`);
    await Promise.all([...bySubject.values()].map(handleInOrder));
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
