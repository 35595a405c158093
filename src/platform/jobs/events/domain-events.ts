import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../clock.js';
import { afterCommit, Transactions, type Tx } from '../../database/transactions.js';
import { defineQueue } from '../job-queue.js';
import { Jobs, type WorkOptions } from '../jobs.js';
import {
  type DomainEvent,
  type EventBatch,
  type EventHandler,
  type EventListener,
  type EventsHandler,
  eventOf,
  type NewEvent,
} from './domain-event.js';
import { EventDelivery, EventRelay } from './event-delivery.js';
import { EventOutbox } from './event-outbox.js';
import { ProcessedEvents } from './processed-events.js';
import { UnhandledEvents } from './unhandled-events.js';

const PRUNE_SECONDS = 3_600;

/**
 * How a change is made known to the modules above: one row written in the transaction of the change, however many
 * listen. Each handler gets each event at least once, soon after the commit, mostly in the order of writing; so a
 * handler works by the event's id, or asks `firstTime`.
 */
@Injectable()
export class DomainEvents
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly listeners: EventListener[] = [];
  private readonly delivery: EventDelivery;
  private readonly relay: EventRelay;

  constructor(
    transactions: Transactions,
    private readonly jobs: Jobs,
    private readonly outbox: EventOutbox,
    private readonly processed: ProcessedEvents,
    private readonly unhandled: UnhandledEvents,
    private readonly clock: Clock,
  ) {
    this.delivery = new EventDelivery(jobs, transactions, unhandled);
    this.relay = new EventRelay(outbox, transactions, jobs, unhandled, this.listeners);
  }

  /** Part of the change: rolled back with it, and on its way right after its commit. */
  async record(tx: Tx, ...news: readonly NewEvent[]): Promise<void> {
    if (news.length === 0) return;
    const now = this.clock.now();
    await this.outbox.add(
      tx,
      news.map((one) => eventOf(one, now)),
    );
    afterCommit(tx, () => this.relay.wake());
  }

  /** For a hot path that inserts event rows in a statement of its own (see insertEvents), after its commit. */
  wake(): void {
    this.relay.wake();
  }

  /**
   * Called in `onModuleInit`. A handler whose work nothing else brings about, should a restore lose its job, says `inBackup`:
   * that costs a row for each event. The name stays the same for ever: it names the handler's queue. A handler that throws gets
   * the event again with growing waits, alone; the job is dead in the end, and kept for an operator.
   */
  on(
    types: readonly string[],
    name: string,
    handler: EventHandler,
    { inBackup, ...options }: WorkOptions & Pick<EventListener, 'inBackup'> = { concurrency: 2 },
  ): void {
    this.listen({ name, types: new Set(types), inBackup, handler: { one: handler } }, options);
  }

  /**
   * The same for a handler that does its work for many events in one statement. It names the events that it wants, where
   * those are few of their types: what others cause costs it nothing.
   */
  onMany(
    types: readonly string[],
    name: string,
    handler: EventsHandler,
    { wants, ...options }: WorkOptions & Pick<EventListener, 'wants'> = { concurrency: 2 },
  ): void {
    this.listen({ name, types: new Set(types), wants, handler: { all: handler } }, options);
  }

  /**
   * Whether the handler has not done its work for the event yet. In the transaction of that work, which then is done
   * exactly once: `transactions.run(async (tx) => (await events.firstTime(tx, 'mine', event)) && work(tx))`.
   */
  firstTime(tx: Tx, handler: string, event: DomainEvent): Promise<boolean> {
    return this.processed.remember(tx, handler, event);
  }

  onModuleInit(): void {
    this.jobs.every('prune-processed-events', PRUNE_SECONDS, async () => {
      await this.processed.prune();
      await this.unhandled.prune();
    });
  }

  onApplicationBootstrap(): void {
    this.relay.start();
  }

  /** What is written from now on waits for another replica, or for the next start. */
  beforeApplicationShutdown(): Promise<void> {
    return this.relay.stop();
  }

  private listen(about: Omit<EventListener, 'queue'>, options: WorkOptions): void {
    const queue = defineQueue<EventBatch>(`event.${about.name}`);
    const listener: EventListener = { ...about, queue };
    this.jobs.work(queue, (batch, job) => this.delivery.deliver(listener, batch, job), options);
    this.listeners.push(listener);
  }
}
