import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { actionIdOf } from '../../actions/action.js';
import { ACTION_EVENTS } from '../../actions/action-records.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { Settings } from '../../platform/config/settings.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { DomainEvent } from '../../platform/work/domain-event.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { PlaybookRunner } from './playbook-runner.js';
import type { PlaybookRunSummary } from './playbook-run.js';
import { RunWritesRepository } from './records/run-writes.repository.js';

/** Maximum number of runs that a replica works on. Runs of requests and runs that wait for a slow action do not count. */
const MOST_AT_ONCE = 32;
/** Runs that become due within this time are claimed together. */
const REST_MS = 5;
const LONGEST_PAUSE_MS = 5_000;
const PAUSES_PER_LEASE = 4;
const SWEEP_SECONDS = 600;
const TASK = 'Looking for playbook runs that are due';

/**
 * Continues due runs: an action has ended, the kill switch was turned off, or a replica died. Every replica looks for due runs, and a
 * claim decides which replica continues. A run that waits for an action is not due.
 */
@Injectable()
export class RunQueue implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Playbooks');
  private readonly loop: BackgroundLoop;
  private underWay = 0;

  constructor(
    private readonly runner: PlaybookRunner,
    private readonly writes: RunWritesRepository,
    private readonly transactions: Transactions,
    private readonly events: DomainEvents,
    private readonly killSwitch: KillSwitch,
    private readonly work: Work,
    private readonly settings: Settings,
  ) {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, settings.actionLeaseMs / PAUSES_PER_LEASE);
    const options = { task: TASK, log: this.log, pauseMs, restMs: REST_MS };
    this.loop = new BackgroundLoop(options, () => this.look());
  }

  onModuleInit(): void {
    const { completed, failed, rejected, approved } = ACTION_EVENTS;
    // The run of a step whose action ends at once goes on by itself.
    const news = {
      types: [completed, failed, rejected, approved],
      where: '!exists($.at_once)',
    };
    this.events.inTransaction(news, 'playbook-runs', (tx, events) => this.wakeFor(tx, events));
    this.killSwitch.onTurnedOff(() => this.wake());
    this.work.every('wake-lost-playbook-runs', SWEEP_SECONDS, () => this.wakeLost());
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** A run may be due. */
  wake(): void {
    this.loop.wake();
  }

  /** Wakes runs whose action ended without an event, for example after a restore. */
  async wakeLost(): Promise<void> {
    await this.transactions.run((tx) => this.writes.wakeLost(tx));
    this.wake();
  }

  private async wakeFor(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    const ids = events.map(({ subject }) => actionIdOf(subject.id));
    await this.writes.wakeFor(tx, ids);
    afterCommit(tx, () => this.wake());
  }

  private async look(): Promise<void> {
    const places = MOST_AT_ONCE - this.underWay;
    if (places <= 0) return;
    const claimed = await this.writes.claimDue(places, this.settings.actionLeaseMs);
    for (const run of claimed) void this.carryOn(run);
  }

  private async carryOn(run: PlaybookRunSummary): Promise<void> {
    let hasTurn = true;
    const letGo = () => {
      if (!hasTurn) return;
      hasTurn = false;
      this.underWay -= 1;
      this.wake();
    };
    this.underWay += 1;
    await this.runner.carryOn(run, { letGo });
    letGo();
  }
}
