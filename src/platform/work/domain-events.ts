// SQL: events are inserted in the statement of their change.
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { RowsAtCommit, Statements } from '../database/statements.js';
import { afterCommit, type Tx } from '../database/transactions.js';
import { newId } from '../ids.js';
import type { Again, EventFilter } from './kind.js';
import { Work } from './work.js';

export interface EventSubject {
  readonly type: string;
  readonly id: string;
}

export interface DomainEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: object;
  /** Time in the format ISO 8601. */
  readonly occurredAt: string;
}

/** New event. The payload must not contain secrets: if a handler fails permanently, the payload is kept for weeks. */
export type NewEvent = Pick<DomainEvent, 'type' | 'subject' | 'payload'>;

export function eventOf(event: NewEvent, now: Date): DomainEvent {
  return { ...event, id: newId(now.getTime()), occurredAt: now.toISOString() };
}

/** SQL for a statement that also writes rows: `with event as (${insertEvents('$7')}) insert into …`. See eventRows. */
export function insertEvents(parameter: `$${number}`, where = ''): string {
  return `
    insert into domain_events (events)
    select jsonb_agg(data)
      from (select data, data ->> 'subject_id' as subject_id from jsonb_array_elements(${parameter}::jsonb) as data) as event
     ${where}
    having count(*) > 0`;
}

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

const INSERT = {
  parameters: 1,
  text: (parameter: number) => insertEvents(`$${parameter}`),
  values: (events: readonly DomainEvent[]) => [eventRows(events)],
};

const SET_SIZE = 100;
const PLACES = 2;
const EARLY_MS = 1_000;

/** Kind of the work of an event handler. Backups contain this work, so a restored event reaches its handlers. */
export const kindOfHandler = (name: string): string => `event.${name}`;

/** A trigger turns each event into work in the transaction of the change, so that no event is lost or duplicated. */
@Injectable()
export class DomainEvents {
  private readonly atCommit: RowsAtCommit<DomainEvent>;

  constructor(
    private readonly work: Work,
    statements: Statements,
    private readonly clock: Clock,
  ) {
    this.atCommit = new RowsAtCommit(statements, 'events', INSERT);
  }

  /** Events are written immediately before the commit, and handled right after it. */
  async record(tx: Tx, ...events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const now = this.clock.now();
    this.atCommit.add(
      tx,
      events.map((event) => eventOf(event, now)),
    );
    afterCommit(tx, () => this.wake());
  }

  /** Starts the handlers. Must be called after the commit of a statement that inserts event rows (see insertEvents). */
  wake(): void {
    this.work.wake();
  }

  /** Calls the handler at least once per event. `name` is part of the name of the lane, so it must never change. */
  on(filter: EventFilter, name: string, handler: (event: DomainEvent) => Promise<void>): void {
    this.work.define<DomainEvent, void>({
      name: kindOfHandler(name),
      events: filter,
      places: PLACES,
      one: ({ data }) => handler(data),
    });
  }

  /** Runs in the transaction that ends the work. The handler returns the events that it cannot handle yet. */
  inTransaction(
    filter: EventFilter,
    name: string,
    handler: (tx: Tx, events: readonly DomainEvent[]) => Promise<readonly DomainEvent[] | void>,
  ): void {
    this.work.define<DomainEvent, void>({
      name: kindOfHandler(name),
      events: filter,
      places: SET_SIZE,
      inSet: async (tx, rows) => {
        const events = rows.map(({ data }) => data);
        const early = new Set((await handler(tx, events)) ?? []);
        const again: Again = { inMs: EARLY_MS, countsAsAttempt: false };
        return new Map(rows.filter(({ data }) => early.has(data)).map((row) => [row, again]));
      },
    });
  }
}
