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
import { Claim, Lane, LookDepth } from './claim.js';
import {
  type Again,
  AgainOutcome,
  type Claimed,
  DEFAULTS,
  type Kind,
  LostClaims,
  type NewWork,
} from './kind.js';
import {
  type ClaimedRow,
  type ClaimLook,
  type Ending,
  type OwnLane,
  type Room,
  type WorkRepository,
} from './work.repository.js';

/** For work of other replicas, and for work that becomes due. Work of this replica starts at its commit. */
const POLL_MS = 500;
/** Work that arrives within this time becomes one set. */
const REST_MS = 5;
const RENEW_MS = 1_000;
const RETRY_MS = 500;
/** A row that waits longer for a lock holds up no others: it is tried again later. */
const LOCK_PATIENCE_MS = 1_000;
const LONGEST_ERROR = 2_000;
/** How long aborted work may take until it is left to the end of its lease. */
const ABORT_MS = 300;

interface Note {
  readonly row: ClaimedRow;
  readonly state: object;
}

interface Finished {
  readonly claim: Claim;
  readonly result: unknown;
  readonly ending: Omit<Ending, 'row'>;
}

/**
 * Works on all lanes of this replica: claims as many rows as places are free, does their work, renews the claims and
 * ends them in sets.
 */
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
  /** Nothing becomes due that was due before this time. */
  private liftedTo: Date | undefined;
  private readonly liftDepth = new LookDepth();
  private isStopping = false;

  constructor(
    private readonly repository: WorkRepository,
    private readonly transactions: Transactions,
    private readonly kinds: ReadonlyMap<string, Kind>,
    private readonly beforeLook: () => Promise<void>,
  ) {
    const { log } = this;
    const look = { task: 'Looking for work', log, pauseMs: POLL_MS, restMs: REST_MS };
    this.looking = new BackgroundLoop(look, () => this.look());
    const leases = () => [...kinds.values()].map(({ leaseMs = DEFAULTS.leaseMs }) => leaseMs);
    const renew = {
      task: 'Renewing the claims of work',
      log,
      get pauseMs() {
        return Math.min(RENEW_MS, ...leases().map((ms) => ms / 4));
      },
    };
    this.renewing = new BackgroundLoop(renew, () => this.renew());
    this.notes = new Batcher(async (notes) => {
      const noted = await this.repository.note(this.id, notes);
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

  /** Adds work in the transaction of the caller that this worker does after the commit. */
  async addClaimed(
    tx: Tx,
    kind: Kind,
    added: readonly NewWork[],
    permit: object | undefined,
  ): Promise<ReadonlyMap<string, Promise<void>>> {
    const { leaseMs = DEFAULTS.leaseMs } = kind;
    const awaited = added.map((one) => ({ ...one, span: one.span ?? presentSpan() }));
    const rows = await this.repository.addClaimed(tx, this.id, kind.name, leaseMs, awaited);
    const spanOf = new Map(awaited.map(({ ref, span }) => [ref, span]));
    const started = new Map<string, Promise<void>>();
    for (const row of rows) {
      const { promise, resolve } = Promise.withResolvers<void>();
      started.set(row.ref, promise);
      // Its lease has begun.
      const claim = this.claimOf(row, kind, permit);
      afterCommit(tx, () => {
        const lane = this.lanes.get(row.lane) ?? new Lane(row.lane, kind);
        void inSpan(spanOf.get(row.ref), () => this.carry(lane, [claim])).finally(resolve);
      });
    }
    return started;
  }

  /** Takes no more work. */
  async pause(): Promise<void> {
    this.isStopping = true;
    await this.looking.stop();
  }

  /** Waits for the work that is being done. Then aborts it and gives it back, or leaves it to the end of its lease. */
  async stop(graceMs: number): Promise<void> {
    await this.pause();
    const ended = async () => {
      while (this.claims.size > 0) await sleep(20);
    };
    if ((await within(graceMs, ended(), () => 'late')) === 'late') {
      this.log.warn('Some work did not end within the grace period. Other replicas will do it.');
      for (const claim of this.claims) claim.abort('The service is stopping.');
      await within(ABORT_MS, ended(), () => undefined);
      this.claims.clear();
    }
    await this.renewing.stop();
  }

  private async look(): Promise<void> {
    await this.beforeLook();
    const backMs = this.liftDepth.begin();
    if (backMs === Infinity) {
      for (const lane of this.lanes.values()) {
        // The look finds it again if it is still there.
        if (lane.kind.hasLanes && lane.isIdle) this.lanes.delete(lane.name);
      }
    }
    const rooms = this.roomsOf(({ gate }) => !gate);
    const gated = this.roomsOf(({ gate }) => gate !== undefined);
    const { claimed, free, hasLifted, at, lanes, ready } = await this.repository.look(
      this.id,
      rooms,
      this.lapsedLanes,
      this.liftedTo && backMs < Infinity ? new Date(this.liftedTo.getTime() - backMs) : undefined,
      gated,
    );
    this.liftDepth.end();
    if (!hasLifted) this.liftedTo = at;
    const isMore = this.begin(rooms, { claimed, free, at }, undefined);
    const limited = new Set(lanes.map(({ lane }) => lane));
    for (const { lane } of gated) {
      if (!ready.includes(lane) && !limited.has(lane)) this.lanes.get(lane)!.looked([], 1, at);
    }
    const isNew = this.learn(lanes);
    await this.lookBehindGates(gated.filter(({ lane }) => ready.includes(lane)));
    if (hasLifted || isMore || isNew) this.wake();
  }

  /** Returns whether a lane is new or has other places. */
  private learn(lanes: readonly OwnLane[]): boolean {
    let isNew = false;
    for (const { lane: name, kind, places } of lanes) {
      const definition = kind === null ? undefined : this.kinds.get(kind);
      const known = this.lanes.get(name);
      if (!definition || places === null || known?.places === places) continue;
      if (known) known.places = places;
      else this.lanes.set(name, new Lane(name, definition, places));
      isNew = true;
    }
    return isNew;
  }

  private async lookBehindGates(rooms: readonly Room[]): Promise<void> {
    const gateOf = ({ lane }: Room) => this.lanes.get(lane)!.kind.gate!;
    for (const [gate, behind] of Map.groupBy(rooms, gateOf)) {
      const passed = await this.transactions.run(async (tx) => {
        const permit = await gate(tx);
        return permit && { permit, look: await this.repository.claimIn(tx, this.id, behind) };
      });
      if (passed && this.begin(behind, passed.look, passed.permit)) this.wake();
    }
  }

  private roomsOf(wanted: (kind: Kind) => boolean): Room[] {
    const lanes = [...this.lanes.values()].filter(({ kind, free }) => wanted(kind) && free > 0);
    return lanes.map((lane) => lane.room());
  }

  /** Returns whether a lane may have more work for its free places. */
  private begin(
    rooms: readonly Room[],
    { claimed, free, at }: ClaimLook,
    permit: unknown,
  ): boolean {
    const ofLanes = Map.groupBy(claimed, ({ lane }) => lane);
    let isMore = false;
    for (const [n, room] of rooms.entries()) {
      const lane = this.lanes.get(room.lane)!;
      const ofLane = ofLanes.get(room.lane) ?? [];
      const mayHaveMore = lane.looked(ofLane, free[n]!, at);
      const claims = ofLane.map((row) => this.claimOf(row, lane.kind, permit));
      const [lapsed, others] = [true, false].map((is) => claims.filter((one) => one.lapsed === is));
      const sets = lane.kind.inSet ? [lapsed!, others!] : claims.map((claim) => [claim]);
      for (const set of sets) if (set.length > 0) void outsideTraces(() => this.carry(lane, set));
      isMore ||= mayHaveMore && lane.free > 0;
    }
    return isMore;
  }

  private claimOf(row: ClaimedRow, kind: Kind, permit: unknown): Claim {
    const note: Claimed['note'] = async (state, tx) => {
      const counts = tx
        ? (await this.repository.note(this.id, [{ row, state }], tx)).has(row.id)
        : await this.notes.submit({ row, state });
      if (!counts) throw new LostClaims(new Set([row.id]));
    };
    return new Claim(row, kind, permit, note);
  }

  private async carry(lane: Lane, set: readonly Claim[]): Promise<void> {
    lane.take(set, 1);
    for (const claim of set) this.claims.add(claim);
    try {
      await (lane.kind.inSet ? this.doSet(set) : this.doOne(set[0]!));
    } catch (err) {
      this.log.error({ err, kind: lane.kind.name }, 'The end of work could not be stored.');
    } finally {
      for (const claim of set) this.claims.delete(claim);
      lane.take(set, -1);
      this.wake();
    }
  }

  /** Does the work of a set and ends it in one transaction. If that fails, each row gets a transaction of its own. */
  private async doSet(claims: readonly Claim[]): Promise<void> {
    const open = claims.filter((claim) => !claim.isExpired && !claim.signal.aborted);
    if (open.length === 0) return;
    const [first, ...others] = open as [Claim, ...Claim[]];
    const { definition: kind } = first;
    if (others.length === 0 && first.isWornOut()) return await this.fail(first, DIED);
    try {
      await this.inTraces(open, () =>
        this.transactions.run(async (tx) => {
          await this.repository.limitLockWaits(tx, LOCK_PATIENCE_MS);
          const again = await kind.inSet!(tx, open);
          const endings = open.map((row) => ({ row, again: again?.get(row) }));
          await this.repository.end(tx, this.id, endings);
        }),
      );
    } catch (error) {
      if (error instanceof LostClaims) {
        await this.doSet(open.filter(({ id }) => !error.ids.has(id)));
      } else if (others.length > 0) {
        for (const claim of open) await this.doSet([claim]);
      } else if (isDatabaseUnavailable(error) && !isLocked(error)) {
        await sleep(RETRY_MS);
        await this.doSet(open);
      } else await this.fail(first, error);
    }
  }

  private async doOne(claim: Claim): Promise<void> {
    if (claim.isWornOut()) return await this.fail(claim, DIED);
    let result: unknown;
    try {
      result = await this.inTraces([claim], () =>
        unlessAborted(claim.signal, claim.definition.one!(claim)),
      );
    } catch (error) {
      if (error instanceof LostClaims) return;
      if (this.isStopping && claim.signal.aborted) {
        return await this.settle(claim, undefined, { again: { inMs: 0, countsAsAttempt: false } });
      }
      return await this.fail(claim, error);
    }
    if (result instanceof AgainOutcome) {
      return await this.settle(claim, result.result, { again: result.again });
    }
    await this.settle(claim, result, {});
  }

  /** Stores the end. Repeats it while the database is unreachable, so that the work is not done again. */
  private async settle(claim: Claim, result: unknown, ending: Finished['ending']): Promise<void> {
    while (!claim.isExpired) {
      try {
        return void (await this.ends.submit({ claim, result, ending }));
      } catch (error) {
        if (error instanceof LostClaims) return;
        if (isDatabaseUnavailable(error)) await sleep(RETRY_MS);
        else if (ending.again || ending.diedOf !== undefined) throw error;
        else return await this.fail(claim, error);
      }
    }
  }

  private async endAll(tx: Tx, finished: readonly Finished[]): Promise<void> {
    for (const [kind, ended] of Map.groupBy(finished, ({ claim }) => claim.definition)) {
      for (const { claim, ending } of ended) {
        if (ending.diedOf !== undefined) await kind.gaveUp?.(tx, claim, ending.diedOf);
      }
      const done = ended.filter(({ ending, result }) =>
        ending.again ? result !== undefined : ending.diedOf === undefined,
      );
      if (done.length > 0) {
        await kind.write?.(
          tx,
          done.map(({ claim, result }) => ({ row: claim, result })),
        );
      }
    }
    const endings = finished.map(({ claim, ending }) => ({ row: claim, ...ending }));
    await this.repository.end(tx, this.id, endings);
  }

  private async fail(claim: Claim, error: unknown): Promise<void> {
    const { definition: kind, attempt, row } = claim;
    const why = shownStart(error instanceof Error ? error.message : String(error), LONGEST_ERROR);
    this.log.warn({ err: error, kind: kind.name, ref: row.ref, attempt }, 'Work failed.');
    if (claim.isWornOut(1)) {
      return await this.settle(claim, undefined, { diedOf: why });
    }
    const inMs = (kind.backoffMs ?? DEFAULTS.backoffMs)(attempt);
    const again: Again = { inMs, why };
    await this.settle(claim, undefined, { again });
  }

  private async renew(): Promise<void> {
    for (const claim of this.claims) {
      if (claim.isExpired) claim.abort('The lease is over.');
      if (claim.isTooLong) claim.abort('The work took too long.');
    }
    const due = [...this.claims].filter((claim) => claim.needsRenewal && !claim.signal.aborted);
    if (due.length === 0) return;
    const renewed = await this.repository.renew(this.id, due);
    for (const claim of due) {
      if (renewed.has(claim.id)) claim.renewed();
      else if (this.claims.has(claim)) claim.abort('Another worker has taken over the work.');
    }
  }

  private async inTraces<T>(claims: readonly Claim[], work: () => Promise<T>): Promise<T> {
    const [{ kind, attempt }] = claims as [Claim, ...Claim[]];
    // A request that waits for the work has it in its own trace.
    const isAwaited = presentSpan() !== undefined;
    const links = isAwaited ? [] : claims.flatMap(({ row }) => row.traceparent ?? []);
    const attributes = { 'job.queue': kind, 'job.attempt': attempt, 'job.count': claims.length };
    const job = {
      name: `job ${kind}`,
      kind: isAwaited ? 'internal' : 'consumer',
      attributes,
      links,
    } as const;
    return await traced(() => job, work);
  }
}

const isLocked = (error: unknown) => sqlStateOf(error) === SQLSTATE.lockNotAvailable;

const DIED = new Error('The process ended while the work was done.');
