import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { Transactions } from '../../platform/database/transactions.js';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { ActionListRepository } from './action-list.repository.js';

const PAUSE_MS = 2_000;
const BATCH = 10_000;

/** Keeps totals cheap: sums up what the trigger appends. They are exact with or without it. */
@Injectable()
export class ActionCounts
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly loop = new BackgroundLoop(
    { task: 'Counting actions', log: new Logger(ActionCounts.name), pauseMs: PAUSE_MS },
    () => this.foldPending(),
  );

  constructor(
    private readonly repository: ActionListRepository,
    private readonly transactions: Transactions,
    @InjectMetric('approvals_pending') private readonly approvalsPending: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.approvalsPending, () => this.repository.countWaitingForApproval());
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
