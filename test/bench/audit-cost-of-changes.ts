/* What the audit trail costs the service's own writers: changes of incidents, each a transaction, and creations, which are
 * batched, by 64 at once through the whole application, with and without audit records in alternating rounds. The time that
 * sealing takes is part of it, because the sealer runs meanwhile.
 *
 *   BENCH_SECONDS, BENCH_ROUNDS, BENCH_WRITERS
 */
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { schema } from '../../src/app.schema.js';
import { createApp } from '../../src/app.setup.js';
import { AuditLog } from '../../src/audit/audit-log.js';
import { createKey } from '../../src/auth/keys/key-format.js';
import { newId } from '../../src/platform/ids.js';
import { createRootLogger } from '../../src/platform/logging/logger.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { openDatabase } from '../../src/platform/database/open-database.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const WRITERS = Number(process.env['BENCH_WRITERS'] ?? 64);

type Write = (writer: number) => Promise<void>;

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'its-bench-'));
  const settings = loadSettings({ LOG_LEVEL: 'silent', DATA_DIR: dataDir, RATE_LIMIT_WRITE: '0' });
  const database = await openDatabase(settings, schema, () => undefined);
  const app = await createApp({
    settings,
    dataSource: database.dataSource,
    logger: createRootLogger(settings),
  });
  const { key, prefix, hash } = createKey();
  await database.dataSource.query(
    `insert into api_keys (id, name, role, prefix, secret_hash, created_by) values ($1, 'bench', 'analyst', $2, $3, 'bench')`,
    [newId(), prefix, hash],
  );
  const send = async (method: 'POST' | 'PUT', url: string, payload: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` };
    const { statusCode, body } = await app.inject({ method, url, headers, payload });
    if (statusCode >= 300) throw new Error(`${method} ${url}: ${statusCode} ${body}`);
    return (JSON.parse(body) as { data: { id: string } }).data.id;
  };
  const create = () =>
    send('POST', '/api/incidents', { incident_type: 'phishing', source: 'mail-gateway' });
  const incidents = await Promise.all(Array.from({ length: WRITERS }, create));
  const severities = ['low', 'medium', 'high', 'critical'];
  let count = 0;
  const change: Write = async (writer) => {
    const severity = severities[(count += 1) % severities.length];
    await send('PUT', `/api/incidents/${incidents[writer]!}`, { severity, resolution: `${count}` });
  };
  const audit = app.get(AuditLog, { strict: false });
  for (const [name, write] of [
    ['changes of incidents', change],
    ['creations of incidents', async () => void (await create())],
  ] satisfies [string, Write][]) {
    await compare(name, write, audit);
  }
  await app.close();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function compare(name: string, write: Write, audit: AuditLog): Promise<void> {
  const ratios: number[] = [];
  await rate(write, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? [true, false] : [false, true];
    const rates = new Map<boolean, number>();
    for (const recorded of order) {
      const restore = recorded ? () => undefined : silence(audit);
      rates.set(recorded, await rate(write, SECONDS));
      restore();
    }
    ratios.push(rates.get(true)! / rates.get(false)!);
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
  process.stdout.write(
    `${name}: ratio ${median.toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})\n`,
  );
}

/** Records nothing until the answer is called. */
function silence(audit: AuditLog): () => void {
  const nothing = audit.valuesOfAll([]);
  Object.assign(audit, {
    record: () => Promise.resolve(),
    recordAll: () => Promise.resolve(),
    valuesOfAll: () => nothing,
  });
  return () => {
    for (const method of ['record', 'recordAll', 'valuesOfAll'] as const) {
      Reflect.deleteProperty(audit, method);
    }
  };
}

async function rate(write: Write, seconds: number): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1000;
  let written = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      while (performance.now() < end) {
        await write(writer);
        written += 1;
      }
    }),
  );
  return (written / (performance.now() - start)) * 1000;
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
});
