import { Global, Module } from '@nestjs/common';
import { IdempotencyPruning } from './idempotency-pruning.js';
import { IdempotencyRepository } from './idempotency.repository.js';

@Global()
@Module({
  providers: [IdempotencyRepository, IdempotencyPruning],
  exports: [IdempotencyRepository],
})
export class IdempotencyModule {}
