import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { say } from '../support/chaos/figures.js';
import { CREATE_NOTES } from '../support/notes-app.js';
import { NotesReplica, postNote } from '../support/notes-replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KEYS = 150;
const KILLS = 5;

describe('Idempotency-Key while replicas are killed with SIGKILL', () => {
  let database: TestDatabase;
  let db: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Client(database.url);
    await db.connect();
    await db.query(CREATE_NOTES);
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it('has one effect for each key when clients try until they succeed', async () => {
    let replica = await NotesReplica.start(database.url);
    let replayed = 0;
    const clients = Array.from({ length: KEYS }, async (_, i) => {
      const key = `storm-${i}`;
      for (;;) {
        const answer = await postNote(replica.url, '/notes', key, { text: key, ms: 40 }).catch(
          () => undefined,
        );
        if (answer?.headers.get('idempotency-replayed')) replayed += 1;
        if (answer?.status === 201) break;
        await sleep(50);
      }
    });
    const committed = async (): Promise<number> =>
      (await db.query<{ n: number }>('select count(*)::int as n from notes')).rows[0]!.n;
    for (let round = 0; round < KILLS; round += 1) {
      // In the middle of the work: some have committed, others are about to, and answers are on their way.
      const goal = ((round + 1) * KEYS) / (KILLS + 1);
      while ((await committed()) < goal) await sleep(1);
      await replica.kill();
      replica = await NotesReplica.start(database.url);
    }
    await Promise.all(clients);
    await replica.kill();
    const { rows } = await db.query('select text, count(*)::int as n from notes group by text');
    expect(rows).toHaveLength(KEYS);
    expect(rows.filter(({ n }) => n !== 1)).toEqual([]);
    say(`${replayed} of ${KEYS} keys had committed for a client that was not told`);
  });
});
