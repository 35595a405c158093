// SQL: every change writes events and the relay takes them, many in one statement.
import { Injectable } from '@nestjs/common';
import { Statements } from '../../database/statements.js';
import type { Tx } from '../../database/transactions.js';
import { DataSource } from 'typeorm';
import type { DomainEvent } from './domain-event.js';
import { DomainEventEntity } from './events.entity.js';

/**
 * SQL that inserts the events in a JSON array parameter (see eventRows). For a hot path that writes rows and events in
 * one statement: `with news as (${insertEvents('$7')}) insert into …`. `payload` is the stored expression, if only the
 * statement knows all of it.
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

const INSERT = { name: 'domain-events-insert', text: insertEvents('$1') };

const TAKE = {
  name: 'domain-events-take',
  text: `
    delete from domain_events
     where position in (
       select position from domain_events order by position limit $1 for update skip locked)
    returning position, id, type, subject_type, subject_id, payload, occurred_at`,
};

const BE_PATIENT = {
  name: 'domain-events-be-patient',
  text: `select set_config('lock_timeout', $1, true)`,
};

/** Pending events: written with the change, taken by the relay of any replica. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  async add(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, [eventRows(events)]);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.dataSource.getRepository(DomainEventEntity).exists());
  }

  /**
   * Takes the oldest events that no other relay is taking, in the order of writing, and limits the lock waits of the
   * transaction.
   */
  async take(tx: Tx, limit: number, lockPatienceMs: number): Promise<DomainEvent[]> {
    await this.statements.rowsIn(tx, BE_PATIENT, [String(lockPatienceMs)]);
    const rows = await this.statements.rowsIn<DomainEventEntity>(tx, TAKE, [limit]);
    return rows
      .sort((one, other) => Number(one.position) - Number(other.position))
      .map((row) => ({
        id: row.id,
        type: row.type,
        subject: { type: row.subject_type, id: row.subject_id },
        payload: row.payload,
        occurredAt: row.occurred_at,
      }));
  }
}
