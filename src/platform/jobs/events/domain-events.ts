import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../clock.js';
import { RowsAtCommit, afterCommit, Transactions, type Tx } from '../../database/transactions.js';
import { defineQueue, Jobs, type WorkOptions } from '../jobs.js';
import {
  type DomainEvent,
  type EventBatch,
  type EventHandler,
  type EventListener,
  type EventsHandler,
  type EventsInTransaction,
  eventOf,
  type NewEvent,
} from './domain-event.js';
import { EventDelivery, EventRelay } from './event-delivery.js';
import { EventOutbox } from './event-outbox.js';
import { Work } from '../../work/work.js';
import { ProcessedEvents, UnhandledEvents } from './handled-events.js';

const PRUNE_SECONDS = 3_600;

/**
 * Informs the modules above of a change: one row per event, written in the transaction of the change. Each handler gets
 * each event at least once, soon after the commit and mostly in the order of writing. So a handler must be idempotent
 * by event id, or use `firstTime`.
 */
@Injectable()
export class DomainEvents
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly listeners: EventListener[] = [];
  private readonly atCommit = new RowsAtCommit<DomainEvent>((tx, events) => this.write(tx, events));
  private readonly wakers: (() => void)[] = [];
  private readonly delivery: EventDelivery;
  private readonly relay: EventRelay;

  constructor(
    private readonly transactions: Transactions,
    private readonly jobs: Jobs,
    private readonly outbox: EventOutbox,
    private readonly processed: ProcessedEvents,
    private readonly unhandled: UnhandledEvents,
    private readonly clock: Clock,
    private readonly work: Work,
  ) {
    this.delivery = new EventDelivery(jobs, transactions, unhandled);
    this.relay = new EventRelay(outbox, transactions, jobs, unhandled, this.listeners);
  }

  /**
   * Records events in the transaction of the change: written immediately before the commit, delivered right after it.
   */
  async record(tx: Tx, ...news: readonly NewEvent[]): Promise<void> {
    const now = this.clock.now();
    this.atCommit.add(
      tx,
      news.map((one) => eventOf(one, now)),
    );
  }

  /** Starts the delivery. Call it after the commit of a hot path that inserts event rows itself (see insertEvents). */
  wake(): void {
    this.relay.wake();
    for (const wake of this.wakers) wake();
  }

  /**
   * Registers a callback for rows that a trigger writes beside events. It is called after each commit with events of
   * this replica.
   */
  onWritten(wake: () => void): void {
    this.wakers.push(wake);
  }

  /**
   * Registers a handler; call it in `onModuleInit`. The name never changes, because it names the queue. A handler that
   * throws gets the event again, alone and with backoff; finally the job is dead and kept for an operator. `inBackup`
   * is for a handler whose work nothing else triggers if a restore loses its job; it costs one row per event.
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
   * Registers a handler that processes many events in one statement. `wants` filters the events, if it needs only few
   * of their types.
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
   * Registers a handler that only writes to the database. It runs in the transaction that takes the events from the
   * outbox, so each event is handled once and needs no job. If that transaction fails or waits too long for a lock, and
   * for each event that the handler returns, a job does the work, also exactly once.
   */
  inTransaction(
    types: readonly string[],
    name: string,
    handler: EventsInTransaction,
    options: WorkOptions = { concurrency: 2 },
  ): void {
    const one = (event: DomainEvent) =>
      this.transactions.run(async (tx) => {
        if (!(await this.firstTime(tx, name, event))) return;
        const [early] = await handler(tx, [event]);
        if (early) throw new Error(`${event.type} cannot be handled yet.`);
      });
    const about = { name, types: new Set(types), inBackup: true };
    this.listen({ ...about, handler: { one, inTransaction: handler } }, options);
  }

  /**
   * Returns true once per handler and event. Call it in the transaction of the work, which then happens exactly once:
   * `transactions.run(async (tx) => (await events.firstTime(tx, 'mine', event)) && work(tx))`.
   */
  firstTime(tx: Tx, handler: string, event: DomainEvent): Promise<boolean> {
    return this.processed.remember(tx, handler, event);
  }

  onModuleInit(): void {
    this.work.every('prune-processed-events', PRUNE_SECONDS, async () => {
      await this.processed.prune();
      await this.unhandled.prune();
    });
  }

  onApplicationBootstrap(): void {
    this.relay.start();
  }

  /** Later events wait for another replica, or for the next start. */
  beforeApplicationShutdown(): Promise<void> {
    return this.relay.stop();
  }

  private async write(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    await this.outbox.add(tx, events);
    afterCommit(tx, () => this.wake());
  }

  private listen(about: Omit<EventListener, 'queue'>, options: WorkOptions): void {
    const queue = defineQueue<EventBatch>(`event.${about.name}`);
    const listener: EventListener = { ...about, queue };
    this.jobs.work(queue, (batch, job) => this.delivery.deliver(listener, batch, job), options);
    this.listeners.push(listener);
  }
}
