import { setTimeout as sleep } from 'node:timers/promises';
import { afterCommit } from '../../../src/platform/database/transactions.js';
import { Replica } from './replica.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Registers a listener that writes the subject of each event into the table `heard`. */
export function listenOnce({ events }: Replica): void {
  events.inTransaction({ types: ['counted'] }, 'counter', async (tx, heard) => {
    for (const { subject } of heard) await tx.query('insert into heard values ($1)', [subject.id]);
  });
}

/** Points at which the process can hang, in their order. */
export const POINTS = ['claimed', 'noted', 'done', 'ended'] as const;

/**
 * Work with an effect outside of its transaction, written into the table `effects`. The effect happens at most once,
 * because an attempt with a note is never repeated. @param reach is called at each point
 */
export function haveEffects(
  { work, dataSource }: Replica,
  reach: (point: (typeof POINTS)[number]) => Promise<void>,
): void {
  work.define<{ n: number }, string>({
    name: 'effects',
    places: 1,
    leaseMs: 2_000,
    one: async (row) => {
      const { data, state } = row;
      await reach('claimed');
      if (state) return 'unknown';
      await row.note({ begun: true });
      await reach('noted');
      await dataSource.query('insert into effects values ($1)', [data.n]);
      await reach('done');
      return 'certain';
    },
    write: async (tx, ended) => {
      for (const { row, result } of ended) {
        await tx.query('insert into outcomes values ($1, $2)', [row.data.n, result]);
        afterCommit(tx, () => void reach('ended'));
      }
    },
  });
  work.define<{ n: number }, unknown>({
    name: 'sets',
    places: 8,
    leaseMs: 2_000,
    inSet: async (tx, rows) => {
      for (const { data } of rows) await tx.query('insert into effects values ($1)', [data.n]);
      await reach('done');
    },
  });
}

async function main(url: string, part: string): Promise<void> {
  const replica = await Replica.open(url);
  const point = POINTS.find((one) => part === `stop when ${one}`);
  if (point) {
    haveEffects(replica, async (reached) => {
      if (reached !== point) return;
      say(point);
      await sleep(600_000);
    });
  } else listenOnce(replica);
  await replica.start();
  say('started');
  if (part === 'record') await recordForEver(replica);
}

/** Prints each number after its commit, so the test knows which numbers must not be lost. */
async function recordForEver({ transactions, events }: Replica): Promise<void> {
  for (let n = 0; ; n += 1) {
    const id = `${process.pid}-${n}`;
    await transactions.run((tx) =>
      events.record(tx, { type: 'counted', subject: { type: 'number', id }, payload: {} }),
    );
    say(`recorded ${id}.`);
  }
}

if (require.main === module) void main(process.argv[2]!, process.argv[3]!);
