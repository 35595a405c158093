import type { DomainEvent } from './domain-event.js';

/** An event as a job carries it. */
export type EventMessage = Omit<DomainEvent, 'occurredAt'> & { readonly occurredAt: string };

/** What one job brings to one handler, in the order in which it was written. */
export interface EventBatch {
  readonly events: readonly EventMessage[];
}

const MOST_EVENTS = 100;
const LARGEST_BATCH_BYTES = 256 * 1024;

export function messageOf(event: DomainEvent): EventMessage {
  return { ...event, occurredAt: event.occurredAt.toISOString() };
}

export function eventFrom(message: EventMessage): DomainEvent {
  return { ...message, occurredAt: new Date(message.occurredAt) };
}

/** The events that the handler listens to, in batches that are bounded in number and size. */
export function batchesFor(
  types: ReadonlySet<string>,
  events: readonly DomainEvent[],
): EventBatch[] {
  const batches: EventMessage[][] = [];
  let room = 0;
  for (const event of events) {
    if (!types.has(event.type)) continue;
    const message = messageOf(event);
    const bytes = Buffer.byteLength(JSON.stringify(message));
    const current = batches.at(-1);
    if (current && current.length < MOST_EVENTS && bytes <= room) {
      current.push(message);
      room -= bytes;
    } else {
      batches.push([message]);
      room = LARGEST_BATCH_BYTES - bytes;
    }
  }
  return batches.map((batch) => ({ events: batch }));
}
