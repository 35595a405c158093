import type { JobQueue } from '../job-queue.js';
import type { DomainEvent } from './domain-event.js';
import type { EventBatch } from './event-batches.js';

export type EventHandler = (event: DomainEvent) => Promise<void>;

/** Who wants to hear of what. Each handler has a queue of its own: a slow or failing one delays no other. */
export interface Listener {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  readonly queue: JobQueue<EventBatch>;
  readonly handler: EventHandler;
}
