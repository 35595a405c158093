import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { Batcher } from '../concurrency/batcher.js';
import { unlessAborted, within } from '../concurrency/within.js';
import { isDatabaseUnavailable, SQLSTATE, sqlStateOf } from '../database/sqlstate.js';
import { afterCommit, type Transactions, type Tx } from '../database/transactions.js';
import { newId } from '../ids.js';
import { shownStart } from '../text.js';
import { inSpan, outsideTraces, presentSpan, traced } from '../tracing/tracing.js';
import { Claim, Lane, LookBack } from './claim.js';
import { type Again, AgainOutcome, type DefinedKind, LostClaims, type NewWork } from './kind.js';
import type {
  ClaimedRow,
  Ending,
  LaneRequest,
  LimitedLane,
  Look,
  WorkRepository,
} from './work.repository.js';

/** Finds work of other replicas and work that becomes due. Work of this replica starts at its commit. */
const POLL_MS = 500;
const REST_MS = 5;
const RENEW_MS = 1_000;
const RETRY_MS = 500;
/** Maximum wait for a lock. If the wait is longer, the work is retried later, so that it delays no other work. */
const LOCK_WAIT_MS = 1_000;
const MAX_ERROR = 2_000;
const ABORT_MS = 300;

interface Note extends Pick<Claim, 'row' | 'kind'> {
  readonly state: object;
}

interface Finished {
  readonly claim: Claim;
  readonly result: unknown;
  readonly ending: Omit<Ending, 'row'>;
}

export class WorkWorker {
  private readonly log = new Logger('Work');
  private readonly id = newId();
  private readonly lanes = new Map<string, Lane>();
  private readonly lapsedLanes: Record<string, string> = {};
  private readonly claims = new Set<Claim>();
  private readonly looking: BackgroundLoop;
  private readonly renewing: BackgroundLoop;
  private readonly ends: Batcher<Finished, undefined>;
  private readonly notes: Batcher<Note, boolean>;
  /** All rows that were due before this time are ready. */
  private readyUntil: Date | undefined;
  private readonly lookBack = new LookBack();
  private isStopping = false;

  constructor(
    private readonly repository: WorkRepository,
    private readonly transactions: Transactions,
    private readonly kinds: ReadonlyMap<string, DefinedKind>,
    private readonly beforeLook: () => Promise<void>,
  ) {
    const { log } = this;
    const look = { task: 'Looking for work', log, pauseMs: POLL_MS, restMs: REST_MS };
    this.looking = new BackgroundLoop(look, () => this.look());
    const renew = {
      task: 'Renewing the claims of work',
      log,
      get pauseMs() {
        return Math.min(RENEW_MS, ...[...kinds.values()].map(({ leaseMs }) => leaseMs / 4));
      },
    };
    this.renewing = new BackgroundLoop(renew, () => this.renew());
    this.notes = new Batcher(async (notes) => {
      const noted = await this.repository.renew(this.id, notes);
      return notes.map(({ row }) => noted.has(row.id));
    });
    this.ends = new Batcher(async (finished) => {
      await this.transactions.run((tx) => this.endAll(tx, finished));
      return finished.map(() => undefined);
    });
  }

  start(): void {
    for (const kind of this.kinds.values()) {
      if (!kind.hasLanes) this.lanes.set(kind.name, new Lane(kind.name, kind));
      if (!kind.gate) continue;
      const lapsed = `${kind.name}:lapsed`;
      this.lapsedLanes[kind.name] = lapsed;
      this.lanes.set(lapsed, new Lane(lapsed, { ...kind, gate: undefined, hasLanes: undefined }));
    }
    this.looking.start();
    this.renewing.start();
  }

  wake(): void {
    this.looking.wake();
  }

  async addClaimed(
    tx: Tx,
    kind: DefinedKind,
    added: readonly NewWork[],
    permit: object | undefined,
  ): Promise<ReadonlyMap<string, Promise<void>>> {
    const awaited = added.map((one) => ({ ...one, span: one.span ?? presentSpan() }));
    const rows = await this.repository.addClaimed(tx, this.id, kind.name, kind.leaseMs, awaited);
    const spanOf = new Map(awaited.map(({ ref, span }) => [ref, span]));
    const ends = new Map<string, Promise<void>>();
    for (const row of rows) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(row.ref, promise);
      // Creates the claim before the commit, because the lease has already begun.
      const claim = this.claimOf(row, kind, permit);
      afterCommit(tx, () => {
        const lane = this.lanes.get(row.lane) ?? new Lane(row.lane, kind);
        void inSpan(spanOf.get(row.ref), () => this.run(lane, [claim])).finally(resolve);
      });
    }
    return ends;
  }

  async pause(): Promise<void> {
    this.isStopping = true;
    await this.looking.stop();
  }

  /** Waits for running work, and aborts it after `graceMs`. Releases the aborted work or lets its lease expire. */
  async stop(graceMs: number): Promise<void> {
    await this.pause();
    const ended = async () => {
      while (this.claims.size > 0) await sleep(20);
    };
    if ((await within(graceMs, ended(), () => 'late')) === 'late') {
      this.log.warn(
        'Some jobs did not end within SHUTDOWN_GRACE_MS. Another replica will run them.',
      );
      for (const claim of this.claims) claim.abort('The service is stopping.');
      await within(ABORT_MS, ended(), () => undefined);
      this.claims.clear();
    }
    await this.renewing.stop();
  }

  private async look(): Promise<void> {
    await this.beforeLook();
    const backMs = this.lookBack.begin();
    if (backMs === Infinity) {
      for (const lane of this.lanes.values()) {
        // A later poll adds the lane again if it still has a row in `work_lanes`.
        if (lane.kind.hasLanes && lane.isIdle) this.lanes.delete(lane.name);
      }
    }
    const free = [...this.lanes.values()].filter((lane) => lane.free > 0);
    const [open, gated] = [false, true].map((isGated) =>
      free.filter(({ kind }) => Boolean(kind.gate) === isGated).map((lane) => lane.request()),
    ) as [LaneRequest[], LaneRequest[]];
    const { readyUntil, lapsedLanes } = this;
    const dueSince = readyUntil && new Date(Math.max(0, readyUntil.getTime() - backMs));
    const look = await this.repository.look(this.id, open, { lapsedLanes, dueSince, gated });
    this.lookBack.end();
    if (!look.made_ready) this.readyUntil = look.at;
    const mayHaveMore = this.startClaimed(open, look, undefined);
    const limited = new Set(look.lanes.map(({ lane }) => lane));
    for (const { lane } of gated) {
      const isEmpty = !look.ready.includes(lane) && !limited.has(lane);
      if (isEmpty) this.lanes.get(lane)!.endLook([], 1, look.at);
    }
    const hasChanged = this.updateLanes(look.lanes);
    await this.claimBehindGates(gated.filter(({ lane }) => look.ready.includes(lane)));
    if (look.made_ready || mayHaveMore || hasChanged) this.wake();
  }

  private updateLanes(lanes: readonly LimitedLane[]): boolean {
    let hasChanged = false;
    for (const { lane: name, kind, places } of lanes) {
      const defined = kind === null ? undefined : this.kinds.get(kind);
      const known = this.lanes.get(name);
      if (!defined || places === null || known?.places === places) continue;
      if (known) known.places = places;
      else this.lanes.set(name, new Lane(name, defined, places));
      hasChanged = true;
    }
    return hasChanged;
  }

  private async claimBehindGates(requests: readonly LaneRequest[]): Promise<void> {
    const gateOf = ({ lane }: LaneRequest) => this.lanes.get(lane)!.kind.gate!;
    for (const [gate, behind] of Map.groupBy(requests, gateOf)) {
      const passed = await this.transactions.run(async (tx) => {
        const permit = await gate(tx);
        return permit && { permit, look: await this.repository.claimIn(tx, this.id, behind) };
      });
      if (passed && this.startClaimed(behind, passed.look, passed.permit)) this.wake();
    }
  }

  private startClaimed(
    requests: readonly LaneRequest[],
    { claimed, free, at }: Look,
    permit: unknown,
  ): boolean {
    const byLane = Map.groupBy(claimed, ({ lane }) => lane);
    let mayHaveMore = false;
    for (const [n, request] of requests.entries()) {
      const lane = this.lanes.get(request.lane)!;
      const rows = byLane.get(request.lane) ?? [];
      const isFull = lane.endLook(rows, free[n]!, at);
      const claims = rows.map((row) => this.claimOf(row, lane.kind, permit));
      const sets = lane.kind.inSet
        ? Map.groupBy(claims, ({ row }) => row.lapsed).values()
        : claims.map((claim) => [claim]);
      for (const set of sets) void outsideTraces(() => this.run(lane, set));
      mayHaveMore ||= isFull && lane.free > 0;
    }
    return mayHaveMore;
  }

  private claimOf(row: ClaimedRow, kind: DefinedKind, permit: unknown): Claim {
    return new Claim(row, kind, permit, async (state, tx) => {
      const note = { row, kind, state };
      const isMine = tx
        ? (await this.repository.renew(this.id, [note], tx)).has(row.id)
        : await this.notes.submit(note);
      if (!isMine) throw new LostClaims(new Set([row.id]));
    });
  }

  private async run(lane: Lane, set: readonly Claim[]): Promise<void> {
    lane.changeBusy(set, 1);
    for (const claim of set) this.claims.add(claim);
    try {
      await (lane.kind.inSet ? this.runSet(set) : this.runOne(set[0]!));
    } catch (err) {
      this.log.error({ err, kind: lane.kind.name }, 'The result of a job was not stored.');
    } finally {
      for (const claim of set) this.claims.delete(claim);
      lane.changeBusy(set, -1);
      this.wake();
    }
  }

  /** Ends the claims in the transaction of the batch. If this transaction fails, each row gets its own transaction. */
  private async runSet(claims: readonly Claim[]): Promise<void> {
    const open = claims.filter((claim) => !claim.isExpired && !claim.work.signal.aborted);
    const [first, ...others] = open;
    if (!first) return;
    const { kind } = first;
    if (others.length === 0 && hasNoAttempts(first)) return await this.fail(first, DIED);
    try {
      await this.inTraces(open, () =>
        this.transactions.run(async (tx) => {
          await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
          const rows = open.map(({ work }) => work);
          const again = await kind.inSet!(tx, rows);
          const endings = rows.map((row) => ({ row, again: again?.get(row) }));
          await this.repository.end(tx, this.id, endings);
        }),
      );
    } catch (error) {
      if (error instanceof LostClaims) {
        await this.runSet(open.filter(({ row }) => !error.ids.has(row.id)));
      } else if (others.length > 0) {
        for (const claim of open) await this.runSet([claim]);
      } else if (isDatabaseUnavailable(error) && !isLocked(error)) {
        await sleep(RETRY_MS);
        await this.runSet(open);
      } else await this.fail(first, error);
    }
  }

  private async runOne(claim: Claim): Promise<void> {
    if (hasNoAttempts(claim)) return await this.fail(claim, DIED);
    const { work, kind } = claim;
    let outcome: unknown;
    try {
      outcome = await this.inTraces([claim], () => unlessAborted(work.signal, kind.one!(work)));
    } catch (error) {
      if (error instanceof LostClaims) return;
      if (!this.isStopping || !work.signal.aborted) return await this.fail(claim, error);
      outcome = new AgainOutcome({ inMs: 0, countsAsAttempt: false });
    }
    if (outcome instanceof AgainOutcome) await this.end(claim, outcome.result, outcome);
    else await this.end(claim, outcome, {});
  }

  /** Stores the end of a claim. Retries while the database is unreachable, so that the work is not repeated. */
  private async end(
    claim: Claim,
    result: unknown,
    { again, diedOf }: Finished['ending'],
  ): Promise<void> {
    while (!claim.isExpired) {
      try {
        return void (await this.ends.submit({ claim, result, ending: { again, diedOf } }));
      } catch (error) {
        if (error instanceof LostClaims) return;
        if (isDatabaseUnavailable(error)) await sleep(RETRY_MS);
        else if (again || diedOf !== undefined) throw error;
        else return await this.fail(claim, error);
      }
    }
  }

  private async endAll(tx: Tx, finished: readonly Finished[]): Promise<void> {
    for (const [kind, ended] of Map.groupBy(finished, ({ claim }) => claim.kind)) {
      for (const { claim, ending } of ended) {
        if (ending.diedOf !== undefined) await kind.gaveUp?.(tx, claim.work, ending.diedOf);
      }
      const results = ended
        .filter(({ ending, result }) =>
          ending.again ? result !== undefined : ending.diedOf === undefined,
        )
        .map(({ claim, result }) => ({ row: claim.work, result }));
      if (results.length > 0) await kind.write?.(tx, results);
    }
    const endings = finished.map(({ claim, ending }) => ({ row: claim.row, ...ending }));
    await this.repository.end(tx, this.id, endings);
  }

  private async fail(claim: Claim, error: unknown): Promise<void> {
    const { kind, row } = claim;
    const { ref, attempt } = row;
    const why = shownStart(error instanceof Error ? error.message : String(error), MAX_ERROR);
    this.log.warn({ err: error, kind: kind.name, ref, attempt }, 'Work failed.');
    const again: Again = { inMs: kind.backoffMs(attempt), why };
    await this.end(claim, undefined, attempt < kind.mostAttempts ? { again } : { diedOf: why });
  }

  private async renew(): Promise<void> {
    for (const claim of this.claims) {
      if (claim.isExpired) claim.abort('The lease is over.');
      if (claim.isOverTimeLimit) claim.abort('The work took too long.');
    }
    const due = [...this.claims].filter(
      (claim) => claim.needsRenewal && !claim.work.signal.aborted,
    );
    if (due.length === 0) return;
    const renewed = await this.repository.renew(this.id, due);
    for (const claim of due) {
      if (renewed.has(claim.row.id)) claim.renew();
      else if (this.claims.has(claim)) claim.abort('Another worker has taken over the work.');
    }
  }

  private async inTraces<T>(claims: readonly Claim[], work: () => Promise<T>): Promise<T> {
    const [{ row }] = claims as [Claim, ...Claim[]];
    // Work that a request waits for belongs to the trace of the request.
    const isAwaited = presentSpan() !== undefined;
    const job = {
      name: `job ${row.kind}`,
      kind: isAwaited ? 'internal' : 'consumer',
      attributes: {
        'job.queue': row.kind,
        'job.attempt': row.attempt,
        'job.count': claims.length,
      },
      links: isAwaited ? [] : claims.flatMap(({ row: { traceparent } }) => traceparent ?? []),
    } as const;
    return await traced(() => job, work);
  }
}

const isLocked = (error: unknown) => sqlStateOf(error) === SQLSTATE.lockNotAvailable;

const hasNoAttempts = ({ row, kind }: Claim) => row.attempt > kind.mostAttempts;

const DIED = new Error('The process ended while the work was done.');
