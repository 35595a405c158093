import { newId } from '../../ids.js';
import { type JobQueue, requireBounded } from '../job-queue.js';

export interface EventSubject {
  /** Such as `incident`. */
  readonly type: string;
  readonly id: string;
}

/** Something that happened, told in the past tense: `incident.triaged`. */
export interface DomainEvent<P extends object = object> {
  readonly id: string;
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: P;
  readonly occurredAt: Date;
}

/**
 * What the one who changed something says about it. The payload is small and holds no secrets: it is copied into the
 * job of each handler, and kept for weeks when one of them fails for good.
 */
export type NewEvent<P extends object = object> = Pick<
  DomainEvent<P>,
  'type' | 'subject' | 'payload'
>;

const LARGEST_PAYLOAD_BYTES = 16 * 1024;

export function eventOf<P extends object>(
  { type, subject, payload }: NewEvent<P>,
  now: Date,
): DomainEvent<P> {
  requireBounded(`The payload of ${type}`, payload, LARGEST_PAYLOAD_BYTES);
  return { id: newId(now.getTime()), type, subject, payload, occurredAt: now };
}

export type EventHandler = (event: DomainEvent) => Promise<void>;

/** Does its work for any number of events in one go. When it throws, it gets all of them again. */
export type EventsHandler = (events: readonly DomainEvent[]) => Promise<void>;

/** Who wants to hear of what. Each handler has a queue of its own: a slow or failing one delays no other. */
export interface EventListener {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** Of these types, the events that it wants: the others cost it no job. */
  readonly wants?: (event: DomainEvent) => boolean;
  /** What is on its way to it is in a backup, too: see UnhandledEvents. */
  readonly inBackup?: boolean;
  readonly queue: JobQueue<EventBatch>;
  /** Takes the events of a batch one by one, or all together. */
  readonly handler: { readonly one: EventHandler } | { readonly all: EventsHandler };
}

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
  { types, wants }: Pick<EventListener, 'types' | 'wants'>,
  events: readonly DomainEvent[],
): EventBatch[] {
  const batches: EventMessage[][] = [];
  let room = 0;
  for (const event of events) {
    if (!types.has(event.type) || wants?.(event) === false) continue;
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
