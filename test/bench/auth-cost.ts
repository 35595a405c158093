/* What authentication costs a request: the same handlers without it, with a key, with a session, with a read of the
 * database for each request (what the cache spares), and writes with and without the second check in their transaction.
 * Processor time is counted, because it does not depend on what else the machine does; requests do not go through a
 * socket, so that the differences between the rows are all there is to see.
 *
 *   BENCH_DATABASE_URL  an empty database; without it an embedded server is started
 *   BENCH_REQUESTS, BENCH_ROUNDS, BENCH_AT_ONCE
 */
import 'reflect-metadata';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schema } from '../../src/app.schema.js';
import { createApp } from '../../src/app.setup.js';
import { CurrentPrincipal, type Principal } from '../../src/auth/principal.js';
import { createKey } from '../../src/auth/keys/key-format.js';
import { PrincipalsRepository } from '../../src/auth/principals/principals.repository.js';
import { createSessionToken, sessionHashOf } from '../../src/auth/sessions/session.entity.js';
import { Public, Requires } from '../../src/platform/access/access.js';
import { newId } from '../../src/platform/ids.js';
import { createRootLogger } from '../../src/platform/logging/logger.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { openDatabase } from '../../src/platform/database/open-database.js';
import { Transactions } from '../../src/platform/database/transactions.js';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 10_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const AT_ONCE = Number(process.env['BENCH_AT_ONCE'] ?? 32);

const state = { prefix: '', repository: undefined as PrincipalsRepository | undefined };

@Controller('bench')
class BenchController {
  constructor(private readonly transactions: Transactions) {}

  @Get('open')
  @Public()
  open(): { ok: boolean } {
    return { ok: true };
  }

  @Get('read')
  @Requires('viewer')
  read(): { ok: boolean } {
    return { ok: true };
  }

  @Get('uncached')
  @Public()
  async uncached(): Promise<{ ok: boolean }> {
    return { ok: (await state.repository!.findKeys([state.prefix])).size === 1 };
  }

  @Post('write-unchecked')
  @Requires('viewer')
  async unchecked(): Promise<{ ok: boolean }> {
    await this.transactions.run((tx) => tx.query('select 1'));
    return { ok: true };
  }

  @Post('write-checked')
  @Requires('viewer')
  async checked(@CurrentPrincipal() caller: Principal): Promise<{ ok: boolean }> {
    await this.transactions.run((tx) => tx.query('select 1'), caller);
    return { ok: true };
  }
}

@Module({ controllers: [BenchController] })
class BenchModule {}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'its-bench-'));
  const settings = loadSettings({
    LOG_LEVEL: 'silent',
    DATA_DIR: dataDir,
    RATE_LIMIT_READ: '0',
    RATE_LIMIT_WRITE: '0',
    RATE_LIMIT_PERSON_READ: '0',
    RATE_LIMIT_PERSON_WRITE: '0',
    ...(process.env['BENCH_DATABASE_URL'] && {
      DATABASE_URL: process.env['BENCH_DATABASE_URL'],
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
  });
  const logger = createRootLogger(settings);
  const database = await openDatabase(settings, schema, () => undefined);
  const app = await createApp({
    settings,
    dataSource: database.dataSource,
    logger,
    alongside: [BenchModule],
  });
  const { key, prefix, hash } = createKey();
  state.prefix = prefix;
  state.repository = app.get(PrincipalsRepository, { strict: false });
  const token = createSessionToken();
  const userId = newId();
  const query = (text: string, values: unknown[]) => database.dataSource.query(text, values);
  await query(
    `insert into api_keys (id, name, role, prefix, secret_hash, created_by) values ($1, 'bench', 'viewer', $2, $3, 'bench')`,
    [newId(), prefix, hash],
  );
  await query(
    `insert into users (id, username, role, password_hash) values ($1, 'bench', 'viewer', 'none')`,
    [userId],
  );
  await query(
    `insert into sessions (id, user_id, token_hash, expires_at) values ($1, $2, decode($3, 'hex'), now() + interval '1 day')`,
    [newId(), userId, sessionHashOf(token)],
  );

  const bearer = { authorization: `Bearer ${key}` };
  const cookie = { cookie: `its_session=${token}`, 'sec-fetch-site': 'same-origin' };
  const cases = [
    ['GET', 'open', 'no authentication', {}],
    ['GET', 'read', 'with a key', bearer],
    ['GET', 'read', 'with a session', cookie],
    ['GET', 'uncached', 'with a read per request', {}],
    ['POST', 'write-unchecked', 'transaction, not checked again', bearer],
    ['POST', 'write-checked', 'transaction, checked again', bearer],
  ] as const;
  const results = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [method, path, name, headers] of cases) {
      const request = { method, url: `/bench/${path}`, headers };
      const cost = await microsecondsEach(async () => {
        const { statusCode } = await app.inject(request);
        if (statusCode >= 300) throw new Error(`${name}: ${statusCode}`);
      });
      // The first round warms up.
      if (round > 0) results.set(name, [...(results.get(name) ?? []), cost]);
    }
  }
  for (const [name, costs] of results) {
    const median = costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)]!;
    process.stdout.write(
      `${name.padEnd(34)} ${median.toFixed(1)} us (${costs.map((cost) => cost.toFixed(1)).join(' / ')})\n`,
    );
  }
  await app.close();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function microsecondsEach(request: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  let left = REQUESTS;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await request();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
