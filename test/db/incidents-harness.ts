import { randomInt } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { foldCounts } from '../../src/platform/counting/counted-list.js';
import { Statements } from '../../src/platform/database/statements.js';
import { newId } from '../../src/platform/ids.js';
import {
  CLASSIFICATIONS,
  type IncidentStatus,
  type Severity,
} from '../../src/incidents/incident.js';

export const TYPES = ['phishing', 'malware', 'bec', 'other'];
export const SOURCES = ['edr', 'gateway', 'siem'];
export const STATUSES: readonly IncidentStatus[] = ['open', 'triaged', 'resolved'];
export const RANKS: readonly Severity[] = ['low', 'medium', 'high', 'critical'];

export const foldDeltas = (dataSource: DataSource) => foldCounts(new Statements(dataSource));

export const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)]!;

export interface Made {
  readonly id: string;
  readonly at: number;
}

/** Inserts incidents directly into the table, some of them with the same millisecond. */
export async function insertIncidents(
  dataSource: DataSource,
  count: number,
  start = Date.now() - count,
): Promise<Made[]> {
  const made = Array.from({ length: count }, (_, index) => {
    const at = start + Math.floor(index / 3);
    return { id: newId(at), at };
  });
  const time = (ms: number) => new Date(ms).toISOString();
  await dataSource.query(
    `insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at, triaged_at, resolved_at, verdict)
     select id, incident_type, severity, status, source, 'Test', '{}', '{}', 'test', created_at,
       created_at + random() * interval '1 hour',
       case when random() < 0.5 then created_at end,
       case when status = 'resolved' then created_at + random() * interval '1 hour' end,
       case when classification <> '' then json_build_object('classification', classification) end
     from unnest($1::uuid[], $2::text[], $3::incident_severity[], $4::incident_status[], $5::text[], $6::timestamptz[], $7::text[])
       as added (id, incident_type, severity, status, source, created_at, classification)`,
    [
      made.map(({ id }) => id),
      made.map(() => pick(TYPES)),
      made.map(() => pick(RANKS)),
      made.map(() => pick(STATUSES)),
      made.map(() => pick(SOURCES)),
      made.map(({ at }) => time(at)),
      made.map(() => pick([...CLASSIFICATIONS, ''])),
    ],
  );
  return made;
}

/** Makes a random change as the service does: a creation, an update or a deletion. */
export async function changeAtRandom(
  dataSource: DataSource,
  ids: readonly string[],
): Promise<void> {
  const kind = randomInt(10);
  if (kind < 4) await insertIncidents(dataSource, 1 + randomInt(5), Date.now());
  else if (kind < 9) {
    await dataSource.query(
      `update incidents set status = $2, severity = $3, version = version + 1, verdict = $4
        where id = $1 and deleted_at is null`,
      [
        pick(ids),
        pick(STATUSES),
        pick(RANKS),
        pick([null, ...CLASSIFICATIONS.map((classification) => ({ classification }))]),
      ],
    );
  } else {
    await dataSource.query(`update incidents set deleted_at = now() where id = $1`, [pick(ids)]);
  }
}
