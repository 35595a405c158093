import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { afterCommit, Transactions, type Tx } from '../database/transactions.js';
import { presentSpan } from '../tracing/tracing.js';
import { AgainOutcome, type Kind, type NewWork, requireBounded, requireValid } from './kind.js';
import { WorkWorker } from './work-worker.js';
import { WorkRepository } from './work.repository.js';

const LARGEST_DATA_BYTES = 1024 * 1024;
/** Part of the grace period that is left for the steps after the work. */
const GRACE_MARGIN_MS = 500;
/** A restore may remove the rows of timers and lanes. */
const REGISTERED_FOR_MS = 60_000;
const TIMER_LIMIT_MS = 900_000;
export const TIMERS = 'every.';

/**
 * The work engine. Work is a row in PostgreSQL: added in the transaction of the caller, claimed by one replica, done at
 * least once, tried again with growing pauses, and finally dead and kept for an operator.
 */
@Injectable()
export class Work
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly log = new Logger('Work');
  private readonly kinds = new Map<string, Kind>();
  private readonly worker: WorkWorker;
  private registeredAt = -Infinity;
  private deadline = Infinity;

  constructor(
    private readonly repository: WorkRepository,
    transactions: Transactions,
    private readonly settings: Settings,
  ) {
    this.worker = new WorkWorker(repository, transactions, this.kinds, () => this.register());
  }

  /** Defines how work of a kind is done. Call it before the application starts. */
  define<D, R>(kind: Kind<D, R>): void {
    requireValid(kind);
    if (this.kinds.has(kind.name)) throw new Error(`${kind.name} is already defined.`);
    this.kinds.set(kind.name, kind);
  }

  /**
   * Calls `handler` once per period on one replica at a time. A failed call is not repeated before the next period; a call
   * whose process was killed is repeated when its lease has ended. Call it before the application starts.
   */
  every(name: string, seconds: number, handler: (signal: AbortSignal) => Promise<unknown>): void {
    const one: Kind['one'] = async ({ signal }) => {
      const begun = performance.now();
      try {
        await handler(signal);
      } catch (err) {
        this.log.warn({ err, timer: name }, 'A timer failed.');
      }
      const inMs = seconds * 1_000 - (performance.now() - begun);
      return new AgainOutcome({ inMs, countsAsAttempt: false });
    };
    const mostAttempts = Infinity;
    this.define({ name: TIMERS + name, places: 1, timeLimitMs: TIMER_LIMIT_MS, mostAttempts, one });
  }

  /**
   * Adds work in the transaction of the caller. It starts right after the commit. Work that waits already gets the new
   * data, and work that is being done is done again.
   */
  async add<D>(
    tx: Tx,
    kind: Pick<Kind<D>, 'name'>,
    ...added: readonly NewWork<D>[]
  ): Promise<void> {
    if (added.length === 0) return;
    this.check(kind.name, added);
    await this.repository.add(tx, kind.name, added, presentSpan()?.traceparent);
    afterCommit(tx, () => this.wake());
  }

  /**
   * Adds work in the transaction of the caller, for a request that waits for it. This replica does the work right after the
   * commit, beside the places of its lane, so the caller needs the permit of the kind's gate. Returns the end of the attempt by
   * `ref`, without work that is being done already.
   */
  async addClaimed<D>(
    tx: Tx,
    kind: Pick<Kind<D>, 'name'>,
    added: readonly NewWork<D>[],
    permit?: object,
  ): Promise<ReadonlyMap<string, Promise<void>>> {
    this.check(kind.name, added);
    const defined = this.kinds.get(kind.name)!;
    return await this.worker.addClaimed(tx, defined, added, permit);
  }

  /**
   * Removes work in the transaction of the caller, even if it is being done: its end then fails. Returns the number of
   * removed rows.
   */
  async cancel(tx: Tx, kind: Pick<Kind, 'name'>, refs: readonly string[]): Promise<number> {
    return (await this.repository.cancel(tx, kind.name, refs, false)).length;
  }

  /** Removes work that is not being done, in the transaction of the caller. Returns the refs of the removed rows. */
  async cancelWaiting(
    tx: Tx,
    kind: Pick<Kind, 'name'>,
    refs: readonly string[],
  ): Promise<readonly string[]> {
    return await this.repository.cancel(tx, kind.name, refs, true);
  }

  /** Claims nothing of a lane for `pauseMs`, and uses only one place for `narrowMs`, which can be Infinity. */
  async slowLane(
    tx: Tx,
    lane: string,
    pauseMs: number,
    narrowMs: number,
    reason?: object,
  ): Promise<void> {
    await this.repository.slowLane(tx, lane, pauseMs, narrowMs, reason);
  }

  /** Ends the pause of a lane, and with `widens` also the time with one place. */
  async resumeLane(tx: Tx, lane: string, widens: boolean): Promise<void> {
    await this.repository.resumeLane(tx, lane, widens);
    afterCommit(tx, () => this.wake());
  }

  /** Starts the next attempt of waiting work in `inMs` if it would start later. */
  async hurry(
    tx: Tx,
    kind: Pick<Kind, 'name'>,
    refs: readonly string[],
    inMs: number,
  ): Promise<void> {
    if (refs.length === 0) return;
    await this.repository.hurry(tx, kind.name, refs, inMs);
    afterCommit(tx, () => this.wake());
  }

  /** Starts work of a lane at once that waits for its next attempt. */
  async hurryLane(tx: Tx, lane: string): Promise<void> {
    await this.repository.hurryLane(tx, lane);
    afterCommit(tx, () => this.wake());
  }

  /** Whether this replica works; false while the database is unreachable at the start. */
  get started(): boolean {
    return this.registeredAt > -Infinity;
  }

  /** Whether dead work of this kind has stored its failure, so that a repetition would do nothing. */
  endsGivenUp(kind: string): boolean {
    return this.kinds.get(kind)?.gaveUp !== undefined;
  }

  /** Looks for work at once. */
  wake(): void {
    this.worker.wake();
  }

  /** Lanes have to be there before the first event. Without a database there is none, and the worker tries again. */
  async onApplicationBootstrap(): Promise<void> {
    await this.register().catch(() => undefined);
    this.worker.start();
  }

  /** Requests and work end at the same time. */
  async beforeApplicationShutdown(): Promise<void> {
    this.deadline = Date.now() + this.settings.shutdownGraceMs - GRACE_MARGIN_MS;
    await this.worker.pause();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.worker.stop(Math.max(0, this.deadline - Date.now()));
  }

  private check(kind: string, added: readonly NewWork[]): void {
    for (const { data } of added) requireBounded(`Work of ${kind}`, data, LARGEST_DATA_BYTES);
  }

  private async register(): Promise<void> {
    if (performance.now() - this.registeredAt < REGISTERED_FOR_MS) return;
    await this.repository.ensureLanes([...this.kinds.values()]);
    await this.repository.ensure([...this.kinds.keys()].filter((name) => name.startsWith(TIMERS)));
    this.registeredAt = performance.now();
  }
}
