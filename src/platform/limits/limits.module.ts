import { Global, Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { FailureLimits } from './failure-limits.js';
import { LimitCounter } from './limit-counter.js';
import { LimitStorage } from './limit-storage.js';
import { LimitStorageModule } from './limit-storage.module.js';
import { RequestLimits } from './request-limits.js';

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
  exports: [FailureLimits, LimitCounter, RequestLimits, ThrottlerModule],
})
export class LimitsModule {}
