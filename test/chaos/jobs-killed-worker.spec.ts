import { FULL, say } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { hangingQueue } from '../support/jobs/replica-app.js';
import { ReplicaProcess } from '../support/jobs/replica-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ROUNDS = FULL ? 3 : 1;

/** With the heartbeat that is shipped; test/db has the same with a short one. */
describe('the job of a worker that is killed with SIGKILL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('runs again on another replica within 30 s', async () => {
    const waits: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const victim = new ReplicaProcess(database.url, 'hang');
      await victim.said('started');
      const survivor = await Replica.open(database.url);
      const ran: number[] = [];
      await survivor.start();
      await survivor.transactions.run((tx) =>
        survivor.jobs.enqueue(tx, hangingQueue, { n: round }),
      );
      await victim.said('took');
      const other = await Replica.open(database.url);
      other.jobs.work(hangingQueue, async ({ n }) => void ran.push(n));
      await other.start();
      await victim.kill();
      const killed = Date.now();
      await eventually(
        () => ran,
        (numbers) => numbers.includes(round),
      );
      waits.push(Date.now() - killed);
      await other.stop();
      await survivor.stop();
    }
    say(`Killed worker's job ran again after ${waits.join(', ')} ms`);
    expect(Math.max(...waits)).toBeLessThan(30_000);
  });
});
