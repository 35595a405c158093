import { Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { LimitStorage } from './limit-storage.js';
import { MemoryLimitStorage } from './memory-limit-storage.js';
import { RedisCounter } from './redis-counter.js';
import { SharedLimitStorage } from './shared-limit-storage.js';

function createStorage({ redisUrl }: Settings): LimitStorage {
  const local = new MemoryLimitStorage();
  return redisUrl ? new SharedLimitStorage(new RedisCounter(redisUrl), local) : local;
}

@Module({
  providers: [{ provide: LimitStorage, useFactory: createStorage, inject: [Settings] }],
  exports: [LimitStorage],
})
export class LimitStorageModule {}
