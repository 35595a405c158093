import { Global, Module } from '@nestjs/common';
import { FailureLimits } from './failure-limits.js';
import { LimitStorage } from './limit-storage.js';
import { MemoryLimitStorage } from './memory-limit-storage.js';

@Global()
@Module({
  providers: [{ provide: LimitStorage, useFactory: () => new MemoryLimitStorage() }, FailureLimits],
  exports: [LimitStorage, FailureLimits],
})
export class LimitsModule {}
