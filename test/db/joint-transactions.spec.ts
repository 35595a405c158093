import { JointTransactions, SetOf } from '../../src/platform/concurrency/joint-transactions.js';
import { RowsAtCommit, afterCommit, type Tx } from '../../src/platform/database/transactions.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('transactions that arrive together', () => {
  const { query, transactions } = useTestDatabase();
  let together: JointTransactions;

  beforeAll(() =>
    query('create table parts (n integer primary key, xid xid8 default pg_current_xact_id())'),
  );
  beforeEach(async () => {
    await query('truncate parts');
    together = new JointTransactions(transactions);
  });

  const add = (n: number) => async (tx: Tx) => {
    await tx.query('insert into parts (n) values ($1)', [n]);
    return n;
  };
  const stored = async (): Promise<{ n: number; xid: string }[]> =>
    await query('select n, xid from parts order by n');

  it('are one, and each has its own answer', async () => {
    const all = [3, 1, 2, 5, 4];
    expect(await Promise.all(all.map((n) => together.run(`key ${n}`, add(n))))).toEqual(all);
    expect(new Set((await stored()).map(({ xid }) => xid)).size).toBe(1);
  });

  it('go in the order of their keys, whatever the order in which they came', async () => {
    const order: number[] = [];
    const note = (n: number) => async () => void order.push(n);
    await Promise.all([3, 1, 2].map((n) => together.run(`key ${n}`, note(n))));
    expect(order).toEqual([1, 2, 3]);
  });

  it('share each statement that they ask for in the same moment, and lone ones do not wait', async () => {
    const sets: number[][] = [];
    const added = new SetOf<number, number>(async (tx, all) => {
      sets.push([...all]);
      await tx.query('insert into parts (n) select unnest($1::integer[])', [all]);
      return all.map((n) => n * 10);
    });
    const twice = (n: number) => async (tx: Tx) => [
      await added.submit(tx, n),
      await added.submit(tx, n + 100),
    ];
    expect(await Promise.all([2, 1, 3].map((n) => together.run(`${n}`, twice(n))))).toEqual([
      [20, 1020],
      [10, 1010],
      [30, 1030],
    ]);
    expect(sets).toEqual([
      [1, 2, 3],
      [101, 102, 103],
    ]);
    expect(await together.run('4', twice(4))).toEqual([40, 1040]);
    expect(sets.slice(2)).toEqual([[4], [104]]);
  });

  it('go one after the other where they share a key, and fail each for itself', async () => {
    const order: string[] = [];
    const part = (name: string, keys: string[]) =>
      together.run(keys, async (tx) => {
        order.push(`${name} begins`);
        await tx.query('select pg_sleep(0.01)');
        order.push(`${name} ends`);
        return name;
      });
    const parts = [part('first', ['a', 'x']), part('second', ['b', 'x']), part('other', ['c'])];
    expect(await Promise.all(parts)).toEqual(['first', 'second', 'other']);
    expect(order.indexOf('second begins')).toBeGreaterThan(order.indexOf('first ends'));
    expect(order.indexOf('other begins')).toBeLessThan(order.indexOf('first ends'));
  });

  it('are done or not each for itself: one that fails takes no other with it', async () => {
    const told: number[] = [];
    const part = (n: number) => async (tx: Tx) => {
      afterCommit(tx, () => told.push(n));
      await add(n)(tx);
      if (n === 2) throw new Error('Not this one.');
      return n;
    };
    const outcomes = await Promise.allSettled([1, 2, 3].map((n) => together.run(`${n}`, part(n))));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: new Error('Not this one.') });
    expect((await stored()).map(({ n }) => n)).toEqual([1, 3]);
    expect(told.toSorted()).toEqual([1, 3]);
  });

  it('do all of it when many lock the same rows in different orders', async () => {
    await query('insert into parts (n) select generate_series(1, 8)');
    const others = new JointTransactions(transactions);
    const lock = (n: number) => async (tx: Tx) => {
      await tx.query('update parts set n = n where n = $1', [n]);
      return n;
    };
    const rows = Array.from({ length: 8 }, (_, place) => place + 1);
    const both = [together, others].flatMap((one, which) =>
      rows.map((n) => one.run(which === 0 ? `${n}` : `${9 - n}`, lock(n))),
    );
    expect(await Promise.all(both)).toEqual([...rows, ...rows]);
  });

  it('write what they gather right before they commit, in one statement', async () => {
    const writes: number[][] = [];
    const rows = new RowsAtCommit<number>(async (tx, gathered) => {
      writes.push([...gathered]);
      for (const n of gathered) await add(n)(tx);
    });
    await transactions.run(async (tx) => {
      rows.add(tx, [1]);
      rows.add(tx, []);
      rows.add(tx, [2, 3]);
      expect(writes).toEqual([]);
    });
    expect(writes).toEqual([[1, 2, 3]]);
    await expect(
      transactions.run(async (tx) => {
        rows.add(tx, [4]);
        throw new Error('No.');
      }),
    ).rejects.toThrow('No.');
    expect((await stored()).map(({ n }) => n)).toEqual([1, 2, 3]);
  });
});
