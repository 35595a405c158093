// SQL: many events are recorded in one statement.
import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan } from 'typeorm';
import { Clock } from '../../clock.js';
import { SetOf } from '../../concurrency/joint-transactions.js';
import { type Statement, Statements } from '../../database/statements.js';
import { type Tx, Transactions } from '../../database/transactions.js';
import { firstIdAt } from '../../ids.js';
import type { DomainEvent } from './domain-event.js';
import { ProcessedEventEntity, UnhandledEventEntity } from './events.entity.js';
import { eventRows } from './event-outbox.js';

/** Longer than dead jobs are kept, so no job can bring an older event again. */
const KEPT_DAYS = 15;
const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 10_000;

type Handled = Pick<ProcessedEventEntity, 'event_id' | 'handler'>;

const REMEMBER: Statement = {
  name: 'processed_events_remember',
  text: `
    insert into processed_events (event_id, handler)
    select event_id, handler from unnest($1::uuid[], $2::text[]) as event (event_id, handler) order by event_id, handler
        on conflict do nothing
    returning event_id, handler`,
};

const keyOf = ({ event_id, handler }: Handled): string => `${event_id} ${handler}`;

/** Records which handler has processed which event. */
@Injectable()
export class ProcessedEvents {
  private readonly memories = new SetOf<Handled, boolean>((tx, all) => this.rememberAll(tx, all));

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  /** Returns true if the handler had not processed the event before. */
  async remember(tx: Tx, handler: string, event: DomainEvent): Promise<boolean> {
    return await this.memories.submit(tx, { event_id: event.id, handler });
  }

  async prune(): Promise<void> {
    // Ids begin with their time (UUID version 7), so no column or index for it is needed.
    const before = firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    while ((await this.pruneSome(before)) === PRUNED_AT_ONCE);
  }

  private async rememberAll(tx: Tx, all: readonly Handled[]): Promise<boolean[]> {
    const rows = await this.statements.rowsIn<Handled>(tx, REMEMBER, [
      all.map(({ event_id }) => event_id),
      all.map(({ handler }) => handler),
    ]);
    const isNew = new Set(rows.map(keyOf));
    // If one set has the same event twice, only the first is new.
    return all.map((one) => isNew.delete(keyOf(one)));
  }

  private async pruneSome(before: string): Promise<number> {
    const events = this.dataSource.getRepository(ProcessedEventEntity);
    const old = events
      .createQueryBuilder('old')
      .select(['old.event_id', 'old.handler'])
      .where('old.event_id < :before')
      .orderBy('old.event_id')
      .limit(PRUNED_AT_ONCE);
    const { affected } = await events
      .createQueryBuilder()
      .delete()
      .where(`(event_id, handler) in (${old.getQuery()})`, { before })
      .execute();
    return affected ?? 0;
  }
}

const NOTE = {
  name: 'unhandled-events-note',
  text: `
    insert into unhandled_events (handler, event_id, type, subject_type, subject_id, payload, occurred_at)
    select $1, id, type, subject_type, subject_id, payload, occurred_at
      from jsonb_to_recordset($2::jsonb) as event(
        id uuid, type text, subject_type text, subject_id text, payload jsonb, occurred_at timestamptz)
    on conflict do nothing`,
};

/**
 * Events whose jobs are pending. Jobs are not part of a backup, so a restore would lose them. For handlers whose work
 * nothing else triggers, a row here represents the event until it is handled.
 */
@Injectable()
export class UnhandledEvents {
  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async note(tx: Tx, handler: string, events: readonly DomainEvent[]): Promise<void> {
    if (events.length === 0) return;
    await this.statements.rowsIn(tx, NOTE, [handler, eventRows(events)]);
  }

  async forget(handler: string, events: readonly Pick<DomainEvent, 'id'>[]): Promise<void> {
    if (events.length === 0) return;
    const event_id = In(events.map(({ id }) => id));
    await this.transactions.run(async (tx) => {
      await tx.getRepository(UnhandledEventEntity).delete({ handler, event_id });
    });
  }

  async prune(): Promise<void> {
    const event_id = LessThan(firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS));
    await this.transactions.run(async (tx) => {
      await tx.getRepository(UnhandledEventEntity).delete({ event_id });
    });
  }
}

/**
 * After a restore: delivers the events again that were pending at the time of the backup. All handlers of these events
 * get them again, because all jobs are lost.
 */
export async function sendUnhandledEventsAgain(tx: Tx): Promise<void> {
  await tx.query(`
    with unhandled as (delete from unhandled_events returning *)
    insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
    select distinct on (event_id) event_id, type, subject_type, subject_id, payload, occurred_at
      from unhandled order by event_id`);
}
