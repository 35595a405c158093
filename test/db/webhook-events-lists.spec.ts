import { randomInt } from 'node:crypto';
import {
  eventList,
  WEBHOOK_EVENT_STATUSES as STATUSES,
  type WebhookEventQueryDto,
} from '../../src/webhooks/webhook-events.js';
import { useTestDatabase } from '../support/open-test-database.js';
import {
  foldDeltas,
  insertEvents,
  listEvents,
  pick,
  type PlanNode,
  rowsRead,
} from './webhook-events-harness.js';

const SOURCES = ['edr', 'gateway', 'siem'];
const anyEvent = () => ({ source: pick(SOURCES), status: pick(STATUSES) });
type Filter = Pick<WebhookEventQueryDto, 'source' | 'status'>;
const some = <T>(items: readonly T[]): T[] => items.filter(() => randomInt(2) === 0);
const maybe = (): boolean => randomInt(3) === 0;

describe('the list of webhook events', () => {
  const { dataSource } = useTestDatabase();

  beforeEach(() =>
    dataSource.query(
      'truncate webhook_events, webhook_event_counts, webhook_event_count_deltas cascade',
    ),
  );

  /** Returns the expected result, computed without stored counts. */
  async function expected({ source, status, sort, page, per_page }: WebhookEventQueryDto) {
    const ids = await dataSource.query<{ id: string }[]>(
      `select id from webhook_events where ($1::text[] is null or source = any($1))
          and ($2::text[] is null or status = any($2)) order by id ${sort === 'created_at' ? 'asc' : 'desc'}`,
      [source, status],
    );
    const shown = ids.slice((page - 1) * per_page, page * per_page);
    return { total: ids.length, ids: shown.map(({ id }) => id) };
  }

  async function listed(request: WebhookEventQueryDto) {
    const { total, items } = await listEvents(dataSource, request);
    return { total, ids: items.map(({ id }) => id) };
  }

  /** Makes a random change that the service or an operator may make. */
  async function changeAtRandom(): Promise<void> {
    const kind = randomInt(10);
    // Skips locked rows: two changes that wait for each other would deadlock.
    const few = `id = any (array(
      select id from webhook_events order by random() limit 3 for update skip locked))`;
    if (kind < 4) await insertEvents(dataSource, 1 + randomInt(5), anyEvent, Date.now());
    else if (kind < 9) {
      await dataSource.query(`update webhook_events set status = $1, attempts = 1 where ${few}`, [
        pick(STATUSES),
      ]);
    } else await dataSource.query(`delete from webhook_events where ${few}`);
  }

  it('equals a plain query for every filter, before and after count changes are added to the totals', async () => {
    await insertEvents(dataSource, 1_000, anyEvent);
    for (let round = 0; round < 100; round += 1) {
      if (round === 30 || round === 70) await foldDeltas(dataSource);
      if (round > 10 && round % 5 === 0) await changeAtRandom();
      const sources = maybe() ? some([...SOURCES, 'unseen']) : [];
      const statuses = maybe() ? some(STATUSES) : [];
      const request: WebhookEventQueryDto = {
        source: sources.length > 0 ? sources : undefined,
        status: statuses.length > 0 ? statuses : undefined,
        sort: maybe() ? '-created_at' : 'created_at',
        page: pick([1, 1, 2, 3, 10, 30, 1_000, 2_147_483_647]),
        per_page: pick([20, 1, 7, 100]),
      };
      expect([request, await listed(request)]).toEqual([request, await expected(request)]);
    }
  });

  it('adds one count change per statement, source and status, and none for an unchanged status', async () => {
    await insertEvents(dataSource, 50, () => ({ source: 'edr', status: 'processed' }));
    await dataSource.query(`update webhook_events set attempts = 2`);
    const deltas = await dataSource.query(
      'select source, status, n from webhook_event_count_deltas',
    );
    expect(deltas).toEqual([{ source: 'edr', status: 'processed', n: '50' }]);
  });

  it('reads at most a page of each index range, and no row for a page past the end', async () => {
    // A source and a status are frequent among the oldest half of the events, but absent among the newest half.
    await insertEvents(dataSource, 10_000, (index) => {
      if (index % 1_000 === 3) return { source: 'rare', status: 'failed' };
      if (index < 5_000 && index % 3 === 0) return { source: 'retired', status: 'duplicate' };
      return { source: `source-${index % 4}`, status: index < 9_500 ? 'processed' : 'updated' };
    });
    await foldDeltas(dataSource);
    const filters: readonly (readonly [Filter, number])[] = [
      [{}, 1],
      [{ status: ['processed'] }, 1],
      [{ status: ['duplicate'] }, 1],
      [{ status: ['failed', 'queued', 'processed', 'duplicate'] }, 4],
      [{ source: ['retired'] }, STATUSES.length],
      [{ source: ['unseen'] }, STATUSES.length],
      [{ source: ['rare'], status: ['failed'] }, 1],
      [{ source: ['source-1', 'source-2', 'rare'] }, 3 * STATUSES.length],
    ];
    const tooMany: object[] = [];
    for (const upkeep of ['analyze', 'vacuum analyze']) {
      await dataSource.query(upkeep);
      for (const [filter, ranges] of filters) {
        for (const page of [1, 3]) {
          const read = await rowsOf(filter, page);
          const most = page * 20 * ranges + 20;
          if (read > most) tooMany.push({ filter, upkeep, page, read, most });
        }
        expect(await rowsOf(filter, 2_147_483_647)).toBe(0);
      }
    }
    expect(tooMany).toEqual([]);
  });

  async function rowsOf(filter: Filter, page: number) {
    const request = { ...filter, page, sort: '-created_at', per_page: 20 } as const;
    const { statement, values } = eventList(request);
    const [row] = await dataSource.query<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
      `explain (analyze, format json) ${statement.text}`,
      values,
    );
    return rowsRead('webhook_events', row['QUERY PLAN'][0].Plan);
  }
});
