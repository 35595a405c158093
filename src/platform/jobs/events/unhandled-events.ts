// SQL: events are noted many in one statement, and go back to the outbox in one.
import { Injectable } from '@nestjs/common';
import { In, LessThan } from 'typeorm';
import { Clock } from '../../clock.js';
import { Statements } from '../../database/statements.js';
import { Transactions, type Tx } from '../../database/transactions.js';
import { firstIdAt } from '../../ids.js';
import { type DomainEvent, type EventMessage, eventFrom } from './domain-event.js';
import { eventRows } from './event-outbox.js';
import { UnhandledEventEntity } from './unhandled-event.entity.js';

/** Longer than a dead job is kept: whoever wants that work done has asked for it by then. */
const KEPT_DAYS = 15;
const DAY_MS = 86_400_000;

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
 * Events that are on their way in jobs. Jobs are not in a backup, so that a restore would lose what was just on its way: for
 * handlers whose work nothing else brings about, a row here stands for the event until it is handled.
 */
@Injectable()
export class UnhandledEvents {
  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async note(tx: Tx, handler: string, events: readonly EventMessage[]): Promise<void> {
    if (events.length === 0) return;
    await this.statements.rowsIn(tx, NOTE, [handler, eventRows(events.map(eventFrom))]);
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
 * After a restore: what was on its way when the backup was made starts anew. Every handler of these events gets them again,
 * since the jobs of all are lost.
 */
export async function sendUnhandledEventsAgain(tx: Tx): Promise<void> {
  await tx.query(`
    with unhandled as (delete from unhandled_events returning *)
    insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
    select distinct on (event_id) event_id, type, subject_type, subject_id, payload, occurred_at
      from unhandled order by event_id`);
}
