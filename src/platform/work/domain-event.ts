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
 * `with event as (${insertEvents('$7')}) insert into …`. The condition may use `subject_id`.
 */
export function insertEvents(parameter: `$${number}`, where = ''): string {
  return `
    insert into domain_events (events)
    select jsonb_agg(data)
      from (select data, data ->> 'subject_id' as subject_id from jsonb_array_elements(${parameter}::jsonb) as data) as event
     ${where}
    having count(*) > 0`;
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
