import { Global, Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { LimitStorage } from './limit-storage.js';
import { MemoryLimitStorage } from './memory-limit-storage.js';
import { RedisCounter } from './redis-counter.js';
import { SharedLimitStorage } from './shared-limit-storage.js';
import { FailureLimits } from './failure-limits.js';
import { LimitCounter } from './limit-counter.js';
import { RequestLimits } from './request-limits.js';

function createStorage({ redisUrl }: Settings): LimitStorage {
  const local = new MemoryLimitStorage();
  return redisUrl ? new SharedLimitStorage(new RedisCounter(redisUrl), local) : local;
}

@Module({
  providers: [{ provide: LimitStorage, useFactory: createStorage, inject: [Settings] }],
  exports: [LimitStorage],
})
class LimitStorageModule {}

@Global()
@Module({
  imports: [
    LimitStorageModule,
    ThrottlerModule.forRootAsync({
      imports: [LimitStorageModule],
      inject: [LimitStorage],
      // Which limit holds depends on the handler and the principal: RateLimitGuard decides it for each request.
      useFactory: (storage: LimitStorage) => ({ storage, throttlers: [{ ttl: 60_000, limit: 0 }] }),
    }),
  ],
  providers: [FailureLimits, LimitCounter, RequestLimits],
  exports: [FailureLimits, LimitCounter, LimitStorageModule, RequestLimits, ThrottlerModule],
})
export class LimitsModule {}
