import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../jobs/jobs.js';
import { IdempotencyRepository } from './idempotency.repository.js';

const EVERY_SECONDS = 600;
const BATCH = 1_000;

/** Forgets the answers of keys that are free again, in batches small enough to be in nobody's way. */
@Injectable()
export class IdempotencyPruning implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly keys: IdempotencyRepository,
  ) {}

  onModuleInit(): void {
    this.jobs.every('idempotency.prune', EVERY_SECONDS, (_, { signal }) => this.prune(signal));
  }

  async prune(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted && (await this.keys.prune(BATCH)) === BATCH);
  }
}
