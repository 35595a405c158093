import type { DataSource } from 'typeorm';
import {
  WEBHOOK_EVENT_STATUSES as STATUSES,
  type WebhookEventListRequest,
} from '../../src/webhooks/events/webhook-event.js';
import { listQuery } from '../../src/webhooks/events/webhook-events.repository.js';
import { type OpenTestDatabase, openTestDatabase } from '../support/open-test-database.js';
import { type Inserted, foldOf, insertEvents } from './webhook-events-harness.js';

const COUNT = 100_000;
const PER_PAGE = 20;
const MANY = Array.from({ length: 19 }, (_, index) => `source-${index}`);

type Filter = WebhookEventListRequest['filter'];

/** With the number of ranges of an index in which a page is looked for. */
const FILTERS: readonly (readonly [string, Filter, number])[] = [
  ['nothing', {}, 1],
  ['the most frequent status', { statuses: ['processed'] }, 1],
  ['a status that was frequent once', { statuses: ['duplicate'] }, 1],
  ['a status that few have', { statuses: ['failed'] }, 1],
  ['all statuses but one', { statuses: ['failed', 'queued', 'processed', 'duplicate'] }, 4],
  ['a source', { sources: ['source-1'] }, STATUSES.length],
  ['a source that sent much once', { sources: ['retired'] }, STATUSES.length],
  ['a source that sends little', { sources: ['rare'] }, STATUSES.length],
  ['a source that never sent', { sources: ['unseen'] }, STATUSES.length],
  ['a source and a status', { sources: ['rare'], statuses: ['failed'] }, 1],
  ['many sources', { sources: [...MANY, 'rare'] }, (MANY.length + 1) * STATUSES.length],
];

/** Without statistics PostgreSQL guesses; before the first vacuum it believes a look into an index alone to be costly. */
const UPKEEP = [
  ['just filled', 'select'],
  ['analysed', 'analyze'],
  ['analysed and vacuumed', 'vacuum analyze'],
] as const;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of the table, or entries of its indexes, the scans of a plan looked at. */
function readFrom(table: string, node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + readFrom(table, plan), 0);
  if (node['Relation Name'] !== table) return below;
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': lost = 0 } =
    node;
  return below + (node['Actual Rows'] + filtered + lost) * node['Actual Loops'];
}

describe(`the list of ${COUNT} webhook events`, () => {
  let database: OpenTestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await openTestDatabase();
    ({ dataSource } = database);
    // The latest are unlike most others: who looks for what is frequent on the whole, finds none of it there.
    const anyOf = (index: number): Pick<Inserted, 'source' | 'status'> => {
      const [source, early] = [MANY[index % MANY.length]!, index < 50_000];
      if (index % 1_000 === 3)
        return { source: 'rare', status: index % 5_000 === 3 ? 'failed' : 'processed' };
      if (early && index % 3 === 0) return { source: 'retired', status: 'duplicate' };
      return { source, status: index < 95_000 ? 'processed' : 'updated' };
    };
    await insertEvents(dataSource, COUNT, anyOf);
    await foldOf(dataSource).foldPending();
  });
  afterAll(() => database?.close());

  async function rowsRead(request: Omit<WebhookEventListRequest, 'per_page'>): Promise<number> {
    const { text, values } = listQuery({ ...request, per_page: PER_PAGE }, 'id, source, status');
    const [row] = await dataSource.query<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
      `explain (analyze, format json) ${text}`,
      [...values],
    );
    return readFrom('webhook_events', row['QUERY PLAN'][0].Plan);
  }

  describe.each(UPKEEP)('when the table was %s', (_state, upkeep) => {
    beforeAll(() => dataSource.query(upkeep));

    it.each(FILTERS)(
      'reads no more than a page of each range, by %s',
      async (_name, filter, ranges) => {
        for (const descending of [true, false]) {
          for (const page of [1, 3]) {
            const most = page * PER_PAGE * ranges + PER_PAGE;
            expect(await rowsRead({ filter, descending, page })).toBeLessThanOrEqual(most);
          }
        }
      },
    );

    it.each(FILTERS)('reads nothing for a page past the end, by %s', async (_name, filter) => {
      expect(await rowsRead({ filter, descending: true, page: 2_147_483_647 })).toBe(0);
    });
  });
});
