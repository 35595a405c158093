import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Statements } from '../database/statements.js';
import { RowsAtCommit, afterCommit, type Tx } from '../database/transactions.js';
import {
  type DomainEvent,
  eventOf,
  eventRows,
  insertEvents,
  type NewEvent,
} from './domain-event.js';
import type { Again, Claimed, News } from './kind.js';
import { Work } from './work.js';

const INSERT = { name: 'domain-events-insert', text: insertEvents('$1') };

/** Largest set of events that a handler gets at once. */
const SET_SIZE = 100;
const PLACES = 2;
/** A handler that could not handle an event yet gets it again after this time. */
const EARLY_MS = 1_000;

/** An event in the data of work. */
type StoredEvent = Omit<DomainEvent, 'occurredAt'> & { readonly occurredAt: string };

/** The work of a handler. It is in backups, so a restored event reaches its handlers. */
export const kindOfHandler = (name: string): string => `event.${name}`;

/**
 * Informs the modules above of a change: one row per event, written in the transaction of the change. A trigger turns
 * each event into work of its handlers, in the same statement, so that no event is lost or comes twice.
 */
@Injectable()
export class DomainEvents {
  private readonly atCommit = new RowsAtCommit<DomainEvent>((tx, events) => this.write(tx, events));

  constructor(
    private readonly work: Work,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  /** Records events in the transaction of the change: written immediately before the commit, handled right after it. */
  async record(tx: Tx, ...news: readonly NewEvent[]): Promise<void> {
    const now = this.clock.now();
    this.atCommit.add(
      tx,
      news.map((one) => eventOf(one, now)),
    );
  }

  /** Starts the handlers. Call it after the commit of a hot path that inserts event rows itself (see insertEvents). */
  wake(): void {
    this.work.wake();
  }

  /**
   * Registers a handler that gets each event by itself, at least once. Call it in `onModuleInit`. The name never
   * changes, because it names the lane. A handler that throws gets the event again with growing pauses; finally the
   * event is dead and kept for an operator.
   */
  on(news: News, name: string, handler: (event: DomainEvent) => Promise<void>): void {
    this.work.define<StoredEvent, void>({
      name: kindOfHandler(name),
      news,
      places: PLACES,
      one: ({ data }) => handler(eventFrom(data)),
    });
  }

  /**
   * Registers a handler that only writes to the database. It runs in the transaction that takes the events, so each
   * event is handled exactly once. If it fails, each event gets a transaction of its own. It returns the events that it
   * cannot handle yet.
   */
  inTransaction(
    news: News,
    name: string,
    handler: (tx: Tx, events: readonly DomainEvent[]) => Promise<readonly DomainEvent[] | void>,
  ): void {
    this.work.define<StoredEvent, void>({
      name: kindOfHandler(name),
      news,
      places: SET_SIZE,
      inSet: async (tx, rows) => {
        const events = rows.map(({ data }) => eventFrom(data));
        const early = (await handler(tx, events)) ?? [];
        const again: Again = { inMs: EARLY_MS, countsAsAttempt: false };
        const rowOf = (event: DomainEvent): Claimed<StoredEvent> => rows[events.indexOf(event)]!;
        return new Map(early.map((event) => [rowOf(event), again]));
      },
    });
  }

  private async write(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, [eventRows(events)]);
    afterCommit(tx, () => this.wake());
  }
}

function eventFrom(stored: StoredEvent): DomainEvent {
  return { ...stored, occurredAt: new Date(stored.occurredAt) };
}
