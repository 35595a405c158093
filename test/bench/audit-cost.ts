/* What the audit trail costs a writer: the throughput with it divided by the throughput without it, measured in
 * alternating rounds. The time that sealing takes is part of it.
 *
 *   BENCH_DATABASE_URL  an empty database; without it an embedded server is started
 *   BENCH_SECONDS, BENCH_ROUNDS, BENCH_WRITERS
 */
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { schema } from '../../src/app.schema.js';
import { AuditChainRepository } from '../../src/audit/chain/audit-chain.repository.js';
import type { AuditEntry } from '../../src/audit/audit-entry.js';
import {
  insertAuditRow,
  insertAuditRows,
  AuditLog,
  AuditWriter,
} from '../../src/audit/audit-log.js';
import { AuditKeys } from '../../src/audit/chain/audit-chain.js';
import { AuditWitness } from '../../src/audit/anchor/audit-witness.js';
import { AuditSealer } from '../../src/audit/chain/audit-sealing.js';
import { Clock } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { readSecretKey } from '../../src/platform/config/setting.js';
import { openDatabase } from '../../src/platform/database/open-database.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { Batcher } from '../../src/platform/concurrency/batcher.js';
import { SecretKeys } from '../../src/platform/secrets/secret-box.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const WRITERS = Number(process.env['BENCH_WRITERS'] ?? 64);

type Write = () => Promise<unknown>;

interface Comparison {
  readonly name: string;
  readonly without: Write;
  readonly with: Write;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'its-bench-'));
  const settings = loadSettings({
    DATABASE_URL: process.env['BENCH_DATABASE_URL'],
    DATA_DIR: dataDir,
  });
  const database = await openDatabase(settings, schema, () => undefined);
  const { dataSource } = database;
  const transactions = new Transactions(dataSource);
  const statements = new Statements(dataSource);
  const keys = new AuditKeys(
    new SecretKeys([readSecretKey(Buffer.alloc(32, 1).toString('base64'))]),
  );
  const [chain, clock, writer] = [new AuditChainRepository(), new Clock(), new AuditWriter()];
  const audit = new AuditLog(statements, keys, clock, writer);
  const witness = new AuditWitness(chain, keys, writer, clock);
  const sealer = new AuditSealer(transactions, chain, keys, witness);

  await dataSource.query(
    'create table if not exists trivial (id uuid primary key, name text not null)',
  );
  const values = (): unknown[] => [newId(), 'a trivial row'];
  const insert = { name: 'trivial', text: 'insert into trivial (id, name) values ($1, $2)' };
  const together = {
    name: 'trivial_recorded',
    text: `with recorded as (${insertAuditRow(3)}) ${insert.text}`,
  };
  const many = {
    name: 'trivials',
    text: 'insert into trivial (id, name) select * from unnest($1::uuid[], $2::text[])',
  };
  const manyTogether = {
    name: 'trivials_recorded',
    text: `with recorded as (${insertAuditRows(3)}) ${many.text}`,
  };
  const columns = (rows: readonly unknown[][]): unknown[][] =>
    [0, 1].map((at) => rows.map((row) => row[at]));
  const entry = (): AuditEntry => ({
    actor: 'key:collector',
    action: 'incident.created',
    subject: { type: 'incident', id: newId() },
    details: { incident_type: 'phishing', severity: 'high', source: 'mail-gateway' },
  });
  const plainBatch = new Batcher<unknown[], void>(async (rows) => {
    await statements.rows(many, columns(rows));
    return rows.map(() => undefined);
  });
  const recordedBatch = new Batcher<unknown[], void>(async (rows) => {
    await statements.rows(manyTogether, [...columns(rows), ...audit.valuesOfAll(rows.map(entry))]);
    return rows.map(() => undefined);
  });

  const plainTransaction = (): Promise<unknown> =>
    transactions.run((tx) => statements.rowsIn(tx, insert, values()));
  const comparisons: Comparison[] = [
    {
      name: 'transaction, record() after the change',
      without: plainTransaction,
      with: () =>
        transactions.run(async (tx) => {
          await statements.rowsIn(tx, insert, values());
          await audit.record(tx, entry());
        }),
    },
    {
      name: 'transaction, recorded in the statement of the change',
      without: plainTransaction,
      with: () =>
        transactions.run((tx) =>
          statements.rowsIn(tx, together, [...values(), ...audit.valuesOf(entry())]),
        ),
    },
    {
      name: 'one statement without a transaction around it',
      without: () => statements.rows(insert, values()),
      with: () => statements.rows(together, [...values(), ...audit.valuesOf(entry())]),
    },
    {
      name: 'batched statements',
      without: () => plainBatch.submit(values()),
      with: () => recordedBatch.submit(values()),
    },
  ];

  for (const comparison of comparisons) await compare(comparison, sealer);
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function compare(comparison: Comparison, sealer: AuditSealer): Promise<void> {
  const rates: { without: number[]; with: number[] } = { without: [], with: [] };
  for (const write of [comparison.without, comparison.with]) await rate(write, sealer, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const);
    for (const kind of order) rates[kind].push(await rate(comparison[kind], sealer, SECONDS));
  }
  const ratios = rates.with.map((value, round) => value / rates.without[round]!);
  print(
    `${comparison.name}: ${median(rates.without).toFixed(0)}/s without, ${median(rates.with).toFixed(0)}/s with, ` +
      `ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
  );
}

/** Changes per second, until the last of them is sealed. */
async function rate(write: Write, sealer: AuditSealer, seconds: number): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1000;
  let written = 0;
  const sealing = setInterval(() => void seal(sealer), 1000);
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (performance.now() < end) {
        await write();
        written += 1;
      }
    }),
  );
  clearInterval(sealing);
  await seal(sealer);
  return (written / (performance.now() - start)) * 1000;
}

let underWay: Promise<void> = Promise.resolve();

function seal(sealer: AuditSealer): Promise<void> {
  underWay = underWay.then(async () => {
    while ((await sealer.sealPage()) === 'more');
  });
  return underWay;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

main().catch((error: unknown) => {
  print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
