import { randomInt } from 'node:crypto';
import type { DataSource } from 'typeorm';
import {
  WEBHOOK_EVENT_STATUSES as STATUSES,
  type WebhookEventListRequest,
} from '../../src/webhooks/events/webhook-event.js';
import { listQuery } from '../../src/webhooks/events/webhook-events.repository.js';
import { type OpenTestDatabase, openTestDatabase } from '../support/open-test-database.js';
import { foldOf, insertEvents, pick, repositoryOf } from './webhook-events-harness.js';

const SOURCES = ['edr', 'gateway', 'siem'];
const anyEvent = () => ({ source: pick(SOURCES), status: pick(STATUSES) });
const some = <T>(items: readonly T[]): T[] => items.filter(() => randomInt(2) === 0);
const maybe = (): boolean => randomInt(3) === 0;

interface Found {
  readonly total: number;
  readonly ids: readonly string[];
}

describe('the list of webhook events', () => {
  let database: OpenTestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await openTestDatabase();
    ({ dataSource } = database);
  });
  afterEach(() => database?.close());

  /** What the list must say, the slow way. */
  async function expected(request: WebhookEventListRequest): Promise<Found> {
    const { filter, descending, page, per_page } = request;
    const ids = await dataSource.query<{ id: string }[]>(
      `select id from webhook_events where ($1::text[] is null or source = any($1))
          and ($2::text[] is null or status = any($2)) order by id ${descending ? 'desc' : 'asc'}`,
      [filter.sources, filter.statuses],
    );
    const shown = ids.slice((page - 1) * per_page, page * per_page);
    return { total: ids.length, ids: shown.map(({ id }) => id) };
  }

  async function listed(request: WebhookEventListRequest): Promise<Found> {
    const { total, items } = await repositoryOf(dataSource).list(request);
    return { total, ids: items.map(({ id }) => id) };
  }

  /** One change as the service, or an operator, may make it. */
  async function changeAtRandom(): Promise<void> {
    const kind = randomInt(10);
    // Skipping what others change: two that wait for each other would end one of them.
    const few = `id = any (array(
      select id from webhook_events order by random() limit 3 for update skip locked))`;
    if (kind < 4) await insertEvents(dataSource, 1 + randomInt(5), anyEvent, Date.now());
    else if (kind < 9) {
      await dataSource.query(`update webhook_events set status = $1, attempts = 1 where ${few}`, [
        pick(STATUSES),
      ]);
    } else await dataSource.query(`delete from webhook_events where ${few}`);
  }

  it('answers what a plain query gives, whatever is asked, with folded and with fresh deltas', async () => {
    await insertEvents(dataSource, 1_000, anyEvent);
    for (let round = 0; round < 150; round += 1) {
      if (round === 50 || round === 100) await foldOf(dataSource).foldPending();
      if (round > 20 && round % 5 === 0) await changeAtRandom();
      const request: WebhookEventListRequest = {
        filter: {
          sources: maybe() ? some([...SOURCES, 'unseen']) : undefined,
          statuses: maybe() ? some(STATUSES) : undefined,
        },
        descending: maybe(),
        page: pick([1, 1, 2, 3, 10, 30, 1_000, 2_147_483_647]),
        per_page: pick([20, 1, 7, 100]),
      };
      const { sources, statuses } = request.filter;
      const asked = {
        sources: sources?.length ? sources : undefined,
        statuses: statuses?.length ? statuses : undefined,
      };
      expect([request, await listed(request)]).toEqual([
        request,
        await expected({ ...request, filter: asked }),
      ]);
    }
  });

  it('has the total of count(*) at every moment while events come, change, go and are folded', async () => {
    await insertEvents(dataSource, 200, anyEvent);
    let changing = true;
    const change = async () => {
      for (let round = 0; round < 60; round += 1) await changeAtRandom();
    };
    const fold = async () => {
      while (changing) await foldOf(dataSource).foldPending();
    };
    const judge = async () => {
      const filter = { sources: ['edr', 'siem'], statuses: ['processed', 'failed'] } as const;
      const { text, values } = listQuery({ filter, descending: true, page: 1, per_page: 1 }, 'id');
      let judged = 0;
      for (; changing; judged += 1) {
        const [{ total, n }] = await dataSource.query<[{ total: string; n: string }]>(
          `select listed.total, (select count(*) from webhook_events
              where source in ('edr', 'siem') and status in ('processed', 'failed')) as n
             from (${text}) as listed`,
          [...values],
        );
        expect(total).toBe(n);
      }
      expect(judged).toBeGreaterThan(0);
    };
    const changes = Promise.all([change(), change(), change()]).finally(() => (changing = false));
    await Promise.all([changes, fold(), fold(), judge()]);
    await foldOf(dataSource).foldPending();
    const sums = await dataSource.query<object[]>(
      `select source, status, n from webhook_event_counts where n <> 0 order by 1, 2`,
    );
    expect(sums).toEqual(
      await dataSource.query(
        `select source, status, count(*) as n from webhook_events group by 1, 2 order by 1, 2`,
      ),
    );
    expect(await dataSource.query('select from webhook_event_count_deltas')).toEqual([]);
  });

  it('adds one delta for what a statement changes of one source and status, and none for what stays', async () => {
    await insertEvents(dataSource, 50, () => ({ source: 'edr', status: 'processed' }));
    await dataSource.query(`update webhook_events set attempts = 2`);
    const deltas = await dataSource.query(
      'select source, status, n from webhook_event_count_deltas',
    );
    expect(deltas).toEqual([{ source: 'edr', status: 'processed', n: '50' }]);
  });
});
