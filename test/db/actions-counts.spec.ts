import type { DataSource } from 'typeorm';
import { ActionListRepository } from '../../src/actions/listing/action-list.repository.js';
import { CountFold } from '../../src/platform/counting/count-fold.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions, type Tx } from '../../src/platform/database/transactions.js';
import { useTestDatabase } from '../support/open-test-database.js';

/** A fold of actions that lets a test do something while it holds the lock. */
class TestFold extends CountFold {
  constructor(
    dataSource: DataSource,
    private readonly work: (tx: Tx) => Promise<number>,
  ) {
    super(new Transactions(dataSource), { counted: 'Actions', lock: 4_157_203, pauseMs: 1 });
  }

  override async foldPending(): Promise<void> {
    await this.fold();
  }

  async fold(): Promise<number | undefined> {
    return await this.whileNobodyFolds(this.work);
  }
}

describe('the counts of actions', () => {
  const database = useTestDatabase();
  let dataSource: DataSource;
  let repository: ActionListRepository;

  beforeAll(async () => {
    ({ dataSource } = database);
    repository = new ActionListRepository(new Statements(dataSource));
  });

  const append = (count: number): Promise<unknown> =>
    dataSource.query(
      `insert into action_count_deltas (status, action_type, approval_level, n)
       select 'pending_approval', 'type_' || (i % 7), 'senior', 1 from generate_series(1, $1::integer) as i`,
      [count],
    );

  it('sums a backlog up batch by batch, while the total stays exact', async () => {
    await append(25_000);
    const fold = new TestFold(dataSource, (tx) => repository.fold(tx, 10_000));
    for (const folded of [10_000, 10_000, 5_000, 0]) {
      expect(await repository.countWaitingForApproval()).toBe(25_000);
      expect(await fold.fold()).toBe(folded);
    }
    expect(await repository.countWaitingForApproval()).toBe(25_000);
  });

  it('leaves the fold to the replica that is at it', async () => {
    await append(3);
    const other = new TestFold(dataSource, (tx) => repository.fold(tx, 10));
    const first = new TestFold(dataSource, async (tx) => {
      expect(await other.fold()).toBeUndefined();
      return await repository.fold(tx, 10);
    });
    expect(await first.fold()).toBe(3);
    expect(await other.fold()).toBe(0);
  });
});
