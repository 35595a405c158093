import 'reflect-metadata';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import pino from 'pino';
import { Requires } from '../../src/platform/access/access.js';
import { AnsweringAdapter } from '../../src/platform/http/answering-adapter.js';
import { HeaderGuard } from '../../src/platform/http/input.guard.js';
import { installSecurityHeaders } from '../../src/platform/http/security-headers.js';
import { installRequestLog } from '../../src/platform/logging/request-log.js';
import { ConfigModule, LimitsModule } from '../../src/platform/platform.module.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { IdempotencyRepository } from '../../src/platform/idempotency/idempotency.repository.js';
import { IdempotencyGuard } from '../../src/platform/idempotency/idempotency.guard.js';
import { RateLimitGuard } from '../../src/platform/limits/rate-limit.guard.js';
import { HttpMetrics } from '../../src/platform/metrics/http-metrics.js';
import { METRICS } from '../../src/platform/metrics/metrics.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';

export const LAYERS = ['limits', 'metrics', 'log', 'headers', 'idempotency'] as const;
export type Layer = (typeof LAYERS)[number];

@Controller('things')
@Requires('viewer')
class ThingsController {
  @Get()
  read(): object {
    return { id: 1 };
  }
}

@Injectable()
class NamedCaller implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.caller = {
      name: String(request.headers['x-caller']),
      role: 'admin',
      begin: () => Promise.resolve(),
    };
    return true;
  }
}

/** No layer reaches it for a request without Idempotency-Key. */
const unused = (provide: Type) => ({ provide, useValue: {} });

function moduleOf(has: (layer: Layer) => boolean): Type {
  const guards: Type[] = [NamedCaller];
  if (has('limits')) guards.push(RateLimitGuard as Type);
  if (has('idempotency')) guards.push(HeaderGuard, IdempotencyGuard as Type);
  @Module({
    imports: [
      ConfigModule.with(loadSettings({ RATE_LIMIT_READ: '1000000000' })),
      ...(has('limits') ? [LimitsModule] : []),
    ],
    controllers: [ThingsController],
    providers: [
      ...(has('metrics') ? [...METRICS, HttpMetrics] : []),
      ...guards.map((useClass) => ({ provide: APP_GUARD, useClass })),
      ...[IdempotencyRepository, Transactions, SecretBox].map((one) => unused(one as Type)),
    ],
  })
  class BenchModule {}
  return BenchModule;
}

async function main(layers: readonly string[]): Promise<void> {
  const has = (layer: Layer): boolean => layers.includes(layer);
  const adapter = new AnsweringAdapter();
  const app = await NestFactory.create<NestFastifyApplication>(moduleOf(has), adapter, {
    logger: false,
  });
  const instance = adapter.getInstance();
  if (has('headers')) installSecurityHeaders(instance);
  if (has('metrics')) app.get(HttpMetrics).watch(instance);
  if (has('log')) {
    const destination = pino.destination('/dev/null');
    installRequestLog(instance, pino({ base: undefined }, destination));
  }
  await app.listen(0, '127.0.0.1');
  let last = process.cpuUsage();
  process.on('message', () => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    process.send?.(user + system);
  });
  process.send?.(await app.getUrl());
}

if (process.send) void main(process.argv.slice(2));
