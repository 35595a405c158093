import { setTimeout as sleep } from 'node:timers/promises';
import { defineQueue } from '../../../src/platform/jobs/jobs.js';
import { Replica } from './replica.js';

/** The queue whose job the process takes and never finishes. */
export const hangingQueue = defineQueue<{ n: number }>('hanging');

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes each event's subject into the table `heard`, once. */
export function listenOnce({ events, transactions }: Replica): void {
  events.on(['counted'], 'counter', async (event) =>
    transactions.run(async (tx) => {
      if (await events.firstTime(tx, 'counter', event)) {
        await tx.query('insert into heard values ($1)', [event.subject.id]);
      }
    }),
  );
}

async function main(url: string, part: string): Promise<void> {
  const replica = await Replica.open(url);
  if (part === 'hang') {
    replica.jobs.work(hangingQueue, async ({ n }) => {
      say(`took ${n}`);
      await sleep(600_000);
    });
  } else listenOnce(replica);
  await replica.start();
  say('started');
  if (part === 'record') await recordForEver(replica);
}

/** Says each number after its commit, so whoever kills the process knows what must not be lost. */
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
