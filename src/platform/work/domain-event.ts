// SQL: events are inserted in the statement of their change.
import { newId } from '../ids.js';
import { requireBounded } from './kind.js';

export interface EventSubject {
  /** Such as `incident`. */
  readonly type: string;
  readonly id: string;
}

/** A change, named in the past tense: `incident.triaged`. */
export interface DomainEvent<P extends object = object> {
  readonly id: string;
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: P;
  readonly occurredAt: Date;
}

/**
 * An event to record. The payload is small and has no secrets: it is copied into the work of each handler, and kept for
 * weeks if a handler fails permanently.
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

/**
 * SQL that inserts the events of a JSON array parameter (see eventRows), for a statement that writes rows and events:
 * `with event as (${insertEvents('$7')}) insert into …`. `payload` is the expression of the stored payload.
 */
export function insertEvents(parameter: `$${number}`, payload = 'event.payload'): string {
  return `
    insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
    select id, type, subject_type, subject_id, ${payload}, occurred_at
      from jsonb_to_recordset(${parameter}::jsonb) as event(
        id uuid, type text, subject_type text, subject_id text, payload jsonb,
        occurred_at timestamptz)`;
}

/** Parameter value for `insertEvents`. */
export function eventRows(events: readonly DomainEvent[]): string {
  return JSON.stringify(
    events.map(({ id, type, subject, payload, occurredAt }) => ({
      id,
      type,
      subject_type: subject.type,
      subject_id: subject.id,
      payload,
      occurred_at: occurredAt,
    })),
  );
}
