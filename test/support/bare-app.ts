import {
  type CanActivate,
  type ExecutionContext,
  type ModuleMetadata,
  type Provider,
  Injectable,
  Module,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import {
  PlatformModule,
  ConfigModule,
  DatabaseModule,
  LimitsModule,
  MetricsModule,
} from '../../src/platform/platform.module.js';
import { installBodyReader, BodyGuard } from '../../src/platform/http/body.guard.js';
import { BodyMemory } from '../../src/platform/http/body-memory.js';
import { AnsweringAdapter } from '../../src/platform/http/answering-adapter.js';
import { ErrorFilter } from '../../src/platform/http/error.filter.js';
import { HeaderGuard } from '../../src/platform/http/input.guard.js';
import { requestIdOf } from '../../src/platform/http/incoming-request.js';
import { installSecurityHeaders } from '../../src/platform/http/security-headers.js';
import { createValidationPipe } from '../../src/platform/validation/validation.pipe.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import type { Settings } from '../../src/platform/config/settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { RateLimitGuard } from '../../src/platform/limits/rate-limit.guard.js';
import { HttpMetrics } from '../../src/platform/metrics/http-metrics.js';
import { ApiClient } from './api-client.js';
import { TEST_SETTINGS } from './test-app.js';
import { createTestDatabase } from './test-database.js';

/** Whoever the test says, without keys or sessions: `x-caller: ana`, `x-caller-limits: {"read": 3}`, `x-caller-class: integration`. */
@Injectable()
class NamedCaller implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const name = request.headers['x-caller'];
    const limits = request.headers['x-caller-limits'];
    const limitClass = request.headers['x-caller-class'];
    if (typeof name === 'string') {
      request.caller = {
        name,
        role: 'admin',
        begin: () => Promise.resolve(),
        ...(limitClass === 'integration' && { limitClass }),
        ...(typeof limits === 'string' && { limits: JSON.parse(limits) as object }),
      };
    }
    return true;
  }
}

export interface BareAppOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Without it, one of its own. */
  readonly database?: { readonly url: string };
  readonly controllers: readonly Type[];
  readonly imports?: ModuleMetadata['imports'];
  /** Global guards, after those that it has anyway. */
  readonly guards?: readonly Type[];
  readonly providers?: readonly Provider[];
}

export interface BareApp {
  readonly url: string;
  readonly nest: NestFastifyApplication;
  readonly client: ApiClient;
  as(caller: string, limits?: object): ApiClient;
  close(): Promise<void>;
}

/** The HTTP edge with a test's own controllers, for what lies between authentication and the modules. */
export async function startBareApp(options: BareAppOptions): Promise<BareApp> {
  const settings = loadSettings({ ...TEST_SETTINGS, ...options.settings });
  const own = options.database ? undefined : await createTestDatabase();
  const dataSource = await open((options.database ?? own!).url, settings);
  const adapter = new AnsweringAdapter({
    genReqId: requestIdOf,
    forceCloseConnections: true,
    trustProxy: settings.trustProxy.length > 0 ? [...settings.trustProxy] : false,
  });
  const nest = await NestFactory.create<NestFastifyApplication>(
    moduleOf(options, settings, dataSource),
    adapter,
    { bodyParser: false, logger: false, abortOnError: false },
  );
  const instance = adapter.getInstance();
  installSecurityHeaders(instance);
  nest.get(HttpMetrics).watch(instance);
  installBodyReader(instance, new BodyMemory(16_777_216));
  await nest.listen(0, '127.0.0.1');
  const url = await nest.getUrl();
  const client = ApiClient.for(url, /./);
  return {
    url,
    nest,
    client,
    as: (caller, limits) =>
      client.with({
        'x-caller': caller,
        ...(limits && { 'x-caller-limits': JSON.stringify(limits) }),
      }),
    close: async () => {
      client.close();
      await nest.close();
      await dataSource.destroy();
      await own?.drop();
    },
  };
}

function open(url: string, settings: Settings): Promise<DataSource> {
  return createDataSource(schema, connectionOptions(url, settings)).initialize();
}

function moduleOf(options: BareAppOptions, settings: Settings, dataSource: DataSource): Type {
  @Module({
    imports: [
      ConfigModule.with(settings),
      DatabaseModule.with(dataSource),
      PlatformModule,
      MetricsModule,
      LimitsModule,
      ...(options.imports ?? []),
    ],
    controllers: [...options.controllers],
    providers: [
      ...(options.providers ?? []),
      ...[NamedCaller, RateLimitGuard, BodyGuard, HeaderGuard, ...(options.guards ?? [])].map(
        (useClass) => ({ provide: APP_GUARD, useClass: useClass }),
      ),
      { provide: APP_PIPE, useFactory: createValidationPipe },
      { provide: APP_FILTER, useClass: ErrorFilter },
    ],
  })
  class BareModule {}
  return BareModule;
}
