import type { Tx } from '../../database/transactions.js';
import { newId } from '../../ids.js';
import { type JobQueue, requireBounded } from '../jobs.js';

export interface EventSubject {
  /** Such as `incident`. */
  readonly type: string;
  readonly id: string;
}

/** Something that happened, named in the past tense: `incident.triaged`. */
export interface DomainEvent<P extends object = object> {
  readonly id: string;
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: P;
  readonly occurredAt: Date;
}

/**
 * An event as the author of a change writes it. The payload is small and has no secrets: it is copied into the job of
 * each handler and kept for weeks if a handler fails permanently.
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

/** Handles many events at once. If it throws, it gets all of them again. */
export type EventsHandler = (events: readonly DomainEvent[]) => Promise<void>;

/**
 * Handles many events in the transaction that takes them from the outbox. Returns the events that it cannot handle yet.
 */
export type EventsInTransaction = (
  tx: Tx,
  events: readonly DomainEvent[],
) => Promise<readonly DomainEvent[]>;

/** A subscription. Each handler has its own queue, so a slow or failing handler does not delay others. */
export interface EventListener {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** Filters the events of these types. Rejected events create no job. */
  readonly wants?: (event: DomainEvent) => boolean;
  /** Pending events are included in backups: see UnhandledEvents. */
  readonly inBackup?: boolean;
  readonly queue: JobQueue<EventBatch>;
  /**
   * Handles events one by one, or all events of a batch together. With `inTransaction`, only events that it could not
   * handle become jobs.
   */
  readonly handler:
    | { readonly one: EventHandler; readonly inTransaction?: EventsInTransaction }
    | { readonly all: EventsHandler };
}

/** An event in the data of a job. */
export type EventMessage = Omit<DomainEvent, 'occurredAt'> & { readonly occurredAt: string };

/** The events in one job, in the order of writing. */
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

/** Returns the events that the handler listens to. */
export function eventsFor(
  { types, wants }: Pick<EventListener, 'types' | 'wants'>,
  events: readonly DomainEvent[],
): DomainEvent[] {
  return events.filter((event) => types.has(event.type) && wants?.(event) !== false);
}

/** Splits events into batches of bounded number and size. */
export function batchesOf(events: readonly DomainEvent[]): EventBatch[] {
  const batches: EventMessage[][] = [];
  let room = 0;
  for (const event of events) {
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
