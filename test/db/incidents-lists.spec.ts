import { randomInt } from 'node:crypto';
import type { Client, PoolClient } from 'pg';
import { poolOf } from '../../src/platform/database/data-source.js';
import { CLASSIFICATIONS } from '../../src/incidents/incident.js';
import {
  incidentList,
  type IncidentListRequest,
  SORT_FIELDS,
} from '../../src/incidents/incident-list.js';
import { sortField, type SortWord } from '../../src/platform/paging/page.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import {
  changeAtRandom,
  foldDeltas,
  insertIncidents,
  type Made,
  pick,
  RANKS,
  SOURCES,
  STATUSES,
  TYPES,
} from './incidents-harness.js';

type Request = IncidentListRequest & {
  readonly number?: readonly string[];
};
type SortField = (typeof SORT_FIELDS)[number];

interface Found {
  readonly total: number;
  readonly ids: readonly string[];
}

/** Sort fields with other column names. Ids begin with the time, so they also order rows of the same millisecond. */
const COLUMNS: Partial<Record<SortField, string>> = { incident_number: 'number', created_at: 'id' };

/** Returns the expected list, computed without indexes and stored counts. */
async function expected(client: PoolClient | Client, request: Request): Promise<Found> {
  const { sort, page, per_page, ...filter } = request;
  const words = [sort].flat();
  const directionOf = (word: string) => (word.startsWith('-') ? 'desc' : 'asc');
  const terms = words.map((word) => {
    const field = sortField(word) as SortField;
    return `${COLUMNS[field] ?? field} ${directionOf(word)} nulls last`;
  });
  const last = directionOf(words.at(-1)!);
  const where = `deleted_at is null
    and ($1::text[] is null or status::text = any($1)) and ($2::text[] is null or severity::text = any($2))
    and ($3::text[] is null or incident_type = any($3)) and ($4::text[] is null or source = any($4))
    and ($5::timestamptz is null or created_at > $5) and ($6::timestamptz is null or created_at < $6)
    and ($7::text[] is null or number::text = any($7)) and ($8::text[] is null or verdict->>'classification' = any($8))
    and ($9::timestamptz is null or updated_at > $9) and ($10::timestamptz is null or resolved_at > $10)
    and ($11::timestamptz is null or resolved_at < $11)`;
  const values = [
    filter.status,
    filter.severity,
    filter.type,
    filter.source,
    filter.created_after,
    filter.created_before,
    filter.number?.map((number) => String(Number(number.slice('INC-2026-'.length)))),
    filter.classification,
    filter.updated_after,
    filter.resolved_after,
    filter.resolved_before,
  ];
  const rows = await client.query<{ id: string }>(
    `select id from incidents where ${where}
      order by ${terms.join(', ')}, id ${last} offset ${(page - 1) * per_page} limit ${per_page}`,
    values,
  );
  const count = await client.query<{ n: number }>(
    `select count(*)::int as n from incidents where ${where}`,
    values,
  );
  return { total: count.rows[0]!.n, ids: rows.rows.map(({ id }) => id) };
}

async function listed(client: PoolClient | Client, request: Request): Promise<Found> {
  const { statement, values } = incidentList(request);
  const { rows } = await client.query<{ total: string; id: string | null }>({
    ...statement,
    values: values,
  });
  return {
    total: Number(rows[0]!.total),
    ids: rows.flatMap(({ id }) => (id === null ? [] : [id])),
  };
}

const some = <T>(items: readonly T[]): T[] => items.filter(() => randomInt(2) === 0);
const maybe = (): boolean => randomInt(3) === 0;

/** All generated incidents are of this year. */
const numberOf = (sequence: number) =>
  `INC-${new Date().getUTCFullYear()}-${String(sequence).padStart(4, '0')}`;

/** Returns a random sort order of up to three fields. */
function anySort(): SortWord<SortField>[] {
  const fields = new Set([pick<SortField>([...SORT_FIELDS, 'created_at', 'created_at'])]);
  for (let more = pick([0, 0, 1, 2]); more > 0; more -= 1) fields.add(pick(SORT_FIELDS));
  return [...fields].map((field) => (maybe() ? (`-${field}` as const) : field));
}

function anyRequest(made: readonly Made[]): Request {
  const after = pick(made).at;
  const fine = pick(['', '001', '999']);
  const time = (ms: number) => new Date(ms).toISOString().replace('Z', `${fine}Z`);
  const filter = {
    ...(maybe() && { status: some(STATUSES) }),
    ...(maybe() && { severity: some(RANKS) }),
    ...(maybe() && { type: some([...TYPES, 'unseen']) }),
    ...(maybe() && {
      source: maybe() ? SOURCES.slice(0, 2) : [pick([...SOURCES, 'unseen'])],
    }),
    ...(randomInt(6) === 0 && { created_after: time(after) }),
    ...(randomInt(6) === 0 && { created_before: time(pick(made).at) }),
    ...(randomInt(9) === 0 && { number: [numberOf(randomInt(3_000)), numberOf(randomInt(99))] }),
    ...(randomInt(6) === 0 && { classification: some(CLASSIFICATIONS) }),
    ...(randomInt(9) === 0 && { updated_after: time(after + randomInt(3_600_000)) }),
    ...(randomInt(9) === 0 && { resolved_after: time(after + randomInt(3_600_000)) }),
    ...(randomInt(9) === 0 && { resolved_before: time(after + randomInt(3_600_000)) }),
  };
  return {
    ...Object.fromEntries(
      Object.entries(filter).filter(([, value]) => !(Array.isArray(value) && value.length === 0)),
    ),
    sort: anySort(),
    page: pick([1, 1, 2, 3, 10, 30, 60, 150, 1000]),
    per_page: pick([20, 20, 1, 7, 50, 100]),
  };
}

describe('the list of incidents', () => {
  const { dataSource } = useTestDatabase();
  let made: Made[];

  beforeAll(async () => {
    made = await insertIncidents(dataSource, 3_000);
    await dataSource.query(`update incidents set deleted_at = now() where id = any($1::uuid[])`, [
      made.filter(() => randomInt(20) === 0).map(({ id }) => id),
    ]);
  });

  it('equals a plain query for every filter, before and after count changes are added to the totals', async () => {
    const client = await poolOf(dataSource).connect();
    try {
      for (let round = 0; round < 150; round += 1) {
        if (round === 50 || round === 100) await foldDeltas(dataSource);
        if (round > 20 && round % 5 === 0) {
          await changeAtRandom(
            dataSource,
            made.map(({ id }) => id),
          );
        }
        const request = anyRequest(made);
        expect({ request, ...(await listed(client, request)) }).toEqual({
          request,
          ...(await expected(client, request)),
        });
      }
    } finally {
      client.release();
    }
  });

  it('numbers incidents by the UTC year of their creation, with at least four digits', async () => {
    const newYear = Date.parse('2027-01-01T00:00:00.000Z');
    const [last, first] = [newId(newYear - 1), newId(newYear)];
    const numbers = await dataSource.query<{ incident_number: string }[]>(
      `insert into incidents (id, number, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at)
       select id, number, 'other', 'low', 'open', 'test', 'Test', '{}', '{}', 'test', at, at
         from (values ($1::uuid, 0, $2::timestamptz), ($3, 9000012345, $4)) as new (id, number, at)
       returning incident_number`,
      [last, new Date(newYear - 1), first, new Date(newYear)],
    );
    expect(numbers.map((row) => row.incident_number)).toEqual([
      'INC-2026-0000',
      'INC-2027-9000012345',
    ]);
    await dataSource.query('delete from incidents where id = any($1::uuid[])', [[last, first]]);
  });

  it('reads a consistent snapshot while others write incidents and add count changes to the totals', async () => {
    const ids = made.map(({ id }) => id);
    let writing = true;
    const writers = Array.from({ length: 3 }, async () => {
      while (writing) await changeAtRandom(dataSource, ids);
    });
    const folders = [1, 2].map(async () => {
      while (writing) await foldDeltas(dataSource);
    });
    const client = await poolOf(dataSource).connect();
    const totals = new Set<number>();
    try {
      for (let round = 0; round < 60; round += 1) {
        const request = anyRequest(made);
        await client.query('begin isolation level repeatable read');
        const [is, shouldBe] = [await listed(client, request), await expected(client, request)];
        const { page, per_page, sort } = request;
        const unfiltered = { page, per_page, sort };
        totals.add((await listed(client, unfiltered)).total);
        await client.query('commit');
        expect({ request, ...is }).toEqual({ request, ...shouldBe });
      }
    } finally {
      writing = false;
      client.release();
      await Promise.all([...writers, ...folders]);
    }
    expect(totals.size).toBeGreaterThan(5);
  });
});
