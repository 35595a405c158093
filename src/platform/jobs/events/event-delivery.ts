import { Logger } from '@nestjs/common';
import type { Transactions } from '../../database/transactions.js';
import type { JobContext } from '../job-queue.js';
import type { Jobs } from '../jobs.js';
import { type EventBatch, eventFrom, type EventMessage } from './event-batches.js';
import type { Listener } from './event-handlers.js';

/** The work of a handler's queue: gives it the events of a batch, one after the other. */
export class EventDelivery {
  private readonly log = new Logger('DomainEvents');

  constructor(
    private readonly jobs: Jobs,
    private readonly transactions: Transactions,
  ) {}

  async deliver(listener: Listener, { events }: EventBatch, job: JobContext): Promise<void> {
    const [only, ...others] = events;
    if (only && others.length === 0) return listener.handler(eventFrom(only));
    // The first attempt died in the middle, and one of these may be why: from now on each is for itself.
    if (job.attempt > 1) return this.deliverAlone(listener, events);
    const failed: EventMessage[] = [];
    for (const event of events) {
      job.signal.throwIfAborted();
      try {
        await listener.handler(eventFrom(event));
      } catch (error) {
        this.log.warn(
          { err: error, handler: listener.name, event: event.id, type: event.type },
          'An event was not handled; it is tried again on its own.',
        );
        failed.push(event);
      }
    }
    await this.deliverAlone(listener, failed, listener.queue.retryDelaySeconds);
  }

  private async deliverAlone(
    { queue }: Listener,
    events: readonly EventMessage[],
    delaySeconds = 0,
  ): Promise<void> {
    if (events.length === 0) return;
    const runAt = new Date(Date.now() + delaySeconds * 1_000);
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
