import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { ActionListRepository } from './action-list.repository.js';

const PAUSE_MS = 2_000;
const BATCH = 10_000;

/** Keeps totals cheap: sums up what the trigger appends. They are exact with or without it. */
@Injectable()
export class ActionCounts
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger(ActionCounts.name);
  private readonly loop = new BackgroundLoop(
    PAUSE_MS,
    () => this.foldPending(),
    (error) => this.log.warn(`Actions are not counted for now: ${(error as Error).message}`),
  );

  constructor(
    private readonly repository: ActionListRepository,
    private readonly transactions: Transactions,
    private readonly metrics: Metrics,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.metrics.approvalsPending, () =>
      this.repository.countWaitingForApproval(),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  async foldPending(): Promise<void> {
    while ((await this.transactions.run((tx) => this.repository.foldCounts(tx, BATCH))) === BATCH);
  }
}
