import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { BareApp } from '../support/bare-app.js';
import { CREATE_NOTES, startNotesApp } from '../support/notes-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** The notes service in a process of its own (notes-process.ts), to be killed. */
class NotesReplica {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(databaseUrl: string): Promise<NotesReplica> {
    const child = spawn(
      process.execPath,
      [
        '--require',
        join(__dirname, '../support/jobs/run-typescript.cjs'),
        join(__dirname, '../support/notes-process.ts'),
        databaseUrl,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return new NotesReplica(url, child);
  }

  async kill(): Promise<void> {
    if (this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

function postNote(url: string, path: string, key: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-caller': 'ana', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
}

describe('Idempotency-Key when something is cut off', () => {
  let database: TestDatabase;
  let survivor: BareApp;
  let victim: NotesReplica;
  let db: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Client(database.url);
    await db.connect();
    await db.query(CREATE_NOTES);
    [survivor, victim] = await Promise.all([
      startNotesApp(database),
      NotesReplica.start(database.url),
    ]);
  });
  afterAll(async () => {
    await victim.kill();
    await survivor.close();
    await db.end();
    await database.drop();
  });

  const count = async (text: string): Promise<number> => {
    const found = await db.query('select count(*)::int as n from notes where text = $1', [text]);
    return found.rows[0].n;
  };

  /** A connection of this database that sleeps in a transaction. */
  const SLEEPER = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and query like 'select pg_sleep%' and state = 'active'`;

  async function untilOne(query: string, values: unknown[] = []): Promise<void> {
    for (let i = 0; i < 200; i += 1) {
      if ((await db.query(query, values)).rowCount === 1) return;
      await sleep(20);
    }
    throw new Error(`Not one row: ${query}`);
  }

  it('leaves nothing of a transaction whose connection is cut, and the key free', async () => {
    const first = postNote(survivor.url, '/notes', 'cut', { text: 'cut', ms: 10_000 });
    await untilOne(`select pg_terminate_backend(pid) ${SLEEPER}`);
    expect((await first).status).toBe(503);
    expect(await count('cut')).toBe(0);
    const again = await postNote(survivor.url, '/notes', 'cut', { text: 'cut' });
    expect(again.status).toBe(201);
    expect(await count('cut')).toBe(1);
  });

  it('survives a process that is killed before one commit and after another', async () => {
    const before = { text: 'before', ms: 2_500 };
    const between = { text: 'between', ms: 60_000 };
    const lost = [
      postNote(victim.url, '/notes', 'before', before).catch(() => 'lost'),
      postNote(victim.url, '/notes/slow', 'between', between).catch(() => 'lost'),
    ];
    await untilOne(`select 1 ${SLEEPER}`);
    await untilOne('select 1 from notes where text = $1', ['between']);
    await victim.kill();
    expect(await Promise.all(lost)).toEqual(['lost', 'lost']);

    const again = await postNote(survivor.url, '/notes/slow', 'between', between);
    expect(again.status).toBe(409);

    // PostgreSQL sees that the client is gone when the statement ends; until then the key counts as under way.
    const answers: number[] = [];
    while (answers.at(-1) !== 201 && answers.length < 200) {
      answers.push((await postNote(survivor.url, '/notes', 'before', before)).status);
      await sleep(50);
    }
    expect([...new Set(answers)]).toEqual([409, 201]);
    expect(await count('before')).toBe(1);

    await sleep(2_000);
    const known = await postNote(survivor.url, '/notes/slow', 'between', between);
    expect(known.status).toBe(202);
    expect(known.headers.get('idempotency-replayed')).toBe('true');
    expect(await count('between')).toBe(1);
  });
});
