import type { DataSource } from 'typeorm';
import { newId } from '../../src/platform/ids.js';

export const clearNotifications = (dataSource: DataSource): Promise<unknown> =>
  dataSource.query(
    'truncate notification_channels, notification_deliveries, notification_delivery_count_deltas, domain_events cascade',
  );

/** Inserts an enabled channel and returns its id. */
export async function insertChannel(
  dataSource: DataSource,
  events: readonly string[],
  { type = 'webhook', minSeverity = 'low' } = {},
): Promise<string> {
  const id = newId();
  await dataSource.query(
    `insert into notification_channels (id, name, name_key, type, enabled, events, min_severity, config, created_by)
     values ($1::uuid, $1::text, $1::text, $2, true, $3, $4, '{"url": "https://hooks.example.com/?token=t"}', 'test')`,
    [id, type, events, minSeverity],
  );
  return id;
}

interface InsertedEvent {
  readonly type: string;
  readonly subject?: string;
  readonly payload?: object;
}

/** Inserts one event per subject id in one statement. */
export const insertEvents = (
  dataSource: DataSource,
  { type, subject = 'incident', payload = {} }: InsertedEvent,
  ...ids: readonly string[]
): Promise<unknown> =>
  dataSource.query(
    `insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
     select id, $1, $2, subject_id, $3::jsonb, now() from unnest($4::uuid[], $5::text[]) as added (id, subject_id)`,
    [type, subject, payload, ids.map(() => newId()), ids],
  );
