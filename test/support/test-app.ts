import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schema } from '../../src/app.schema.js';
import { createApp } from '../../src/app.setup.js';
import { createRootLogger } from '../../src/platform/logging/logger.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { connectionOptions, type TimeLimits } from '../../src/platform/database/connection.js';
import { createDataSource, followDatabaseTime } from '../../src/platform/database/data-source.js';
import { ApiClient } from './api-client.js';
import { ContractCheck } from './contract-check.js';
import { readContract } from './contract-check-document.js';
import { checkAnswersOf } from './contract-check-violations.js';
import { createTestDatabase } from './test-database.js';

export interface TestAppOptions {
  /** Environment variables in addition to those that every test needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Database of the test, or of another app (for a second replica). This app does not drop it. */
  readonly database?: { readonly url: string };
  /** Modules of the test. List their paths in `undocumented`, because the contract does not contain them. */
  readonly modules?: readonly Type[];
  readonly undocumented?: RegExp;
  /** Sets options of Node.js that cannot change later, such as the interval of its check for slow requests. */
  readonly beforeListen?: (server: Server) => void;
  /** Shorter time limits for statements and for the wait for a connection. */
  readonly timeLimits?: TimeLimits;
  /** Receives the lines of the log. Requires LOG_LEVEL in `settings`. */
  readonly log?: { write(line: string): void };
}

type Requests = Pick<ApiClient, 'request' | 'get' | 'post' | 'put' | 'delete'>;

/** Sends requests without credentials; `app.client.with({ authorization })` returns a client with credentials. */
export interface TestApp extends Requests, AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly database: { readonly url: string };
  /** Application, for state that HTTP does not show: `app.nest.get(SomeService)`. */
  readonly nest: NestFastifyApplication;
  readonly client: ApiClient;
  sql<Rows = ReturnType<typeof JSON.parse>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Rows>;
  close(): Promise<void>;
}

const MANY = '1000000000';

export const TEST_SETTINGS: Readonly<Record<string, string>> = {
  LOG_LEVEL: 'silent',
  DATABASE_POOL_SIZE: '8',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  RATE_LIMIT_READ: MANY,
  RATE_LIMIT_WRITE: MANY,
  RATE_LIMIT_PERSON_READ: MANY,
  RATE_LIMIT_PERSON_WRITE: MANY,
  RATE_LIMIT_TRIAGE: MANY,
  RATE_LIMIT_WEBHOOK: '0',
  // Most tests repeat the same actions on the same targets.
  ACTION_REPEAT_MINUTES: '0',
  SHUTDOWN_GRACE_MS: '2000',
};

/** Starts the whole service in this process, on its own database. Each response is compared with the contract. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const own = options.database ? undefined : await createTestDatabase();
  const database = options.database ?? own!;
  const settings = loadSettings({
    ...TEST_SETTINGS,
    DATABASE_URL: database.url,
    DATA_DIR: join(tmpdir(), `its-test-data-${randomBytes(6).toString('hex')}`),
    ...options.settings,
  });
  const url = settings.databaseUrl ?? database.url;
  const connection = connectionOptions(url, settings, options.timeLimits);
  const dataSource = await createDataSource(schema, connection).initialize();
  await followDatabaseTime(dataSource);
  const nest = await createApp({
    settings,
    dataSource,
    logger: createRootLogger(settings, options.log),
    ...(options.modules && { alongside: options.modules }),
  });
  const server: Server = nest.getHttpServer();
  checkAnswersOf(server, new ContractCheck(readContract(), options.undocumented));
  options.beforeListen?.(server);
  await nest.listen(0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  const client = ApiClient.ofCheckedServer(`http://127.0.0.1:${port}`);
  const close = async () => {
    client.close();
    await nest.close();
    await dataSource.destroy();
    await own?.drop();
  };
  return {
    url: client.url,
    port,
    database,
    nest,
    client,
    request: (...request) => client.request(...request),
    get: (...request) => client.get(...request),
    post: (...request) => client.post(...request),
    put: (...request) => client.put(...request),
    delete: (...request) => client.delete(...request),
    sql: (text, values) => dataSource.query(text, [...(values ?? [])]),
    close,
    [Symbol.asyncDispose]: close,
  };
}
