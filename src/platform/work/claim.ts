import type { Claimed, DefinedKind } from './kind.js';
import { type ClaimedRow, type LaneRequest, LEVEL_COUNT } from './work.repository.js';

export class Claim {
  readonly work: Claimed;
  private readonly controller = new AbortController();
  private readonly timeLimitAt: number;
  private expiresAt: number;

  constructor(
    readonly row: ClaimedRow,
    readonly kind: DefinedKind,
    permit: unknown,
    note: Claimed['note'],
  ) {
    this.work = { ...row, permit, note, signal: this.controller.signal };
    this.expiresAt = performance.now() + kind.leaseMs;
    this.timeLimitAt = performance.now() + kind.timeLimitMs;
  }

  get isExpired(): boolean {
    return performance.now() > this.expiresAt;
  }

  get needsRenewal(): boolean {
    return performance.now() > this.expiresAt - (2 * this.kind.leaseMs) / 3;
  }

  get isOverTimeLimit(): boolean {
    return performance.now() > this.timeLimitAt;
  }

  renew(): void {
    this.expiresAt = performance.now() + this.kind.leaseMs;
  }

  abort(reason: string): void {
    this.controller.abort(new Error(reason));
  }
}

/** A row may become visible after it became ready, so each poll looks back 2 s, and further at longer intervals. */
const LOOK_BACKS = [
  { everyMs: 30_000, backMs: Infinity },
  { everyMs: 2_000, backMs: 60_000 },
  { everyMs: 0, backMs: 2_000 },
];

export class LookBack {
  private readonly lookedAt = LOOK_BACKS.map(() => -Infinity);
  private begun = { level: 0, at: 0 };

  /** Begins a poll. Returns the time in ms that the poll must look back. */
  begin(): number {
    const at = performance.now();
    const level = LOOK_BACKS.findIndex(({ everyMs }, n) => at - this.lookedAt[n]! >= everyMs);
    this.begun = { level, at };
    return LOOK_BACKS[level]!.backMs;
  }

  /** Records a successful poll. It includes all polls that look back less far. */
  end(): void {
    this.lookedAt.fill(this.begun.at, this.begun.level);
  }
}

export class Lane {
  private busy = 0;
  private lapsedBusy = 0;
  private readonly lookBack = new LookBack();
  /** For each urgency, a time before which no ready work waits. Polls that look further back may find earlier work. */
  private readonly since: Date[] = [];

  constructor(
    readonly name: string,
    readonly kind: DefinedKind,
    public places = kind.places,
  ) {}

  get isIdle(): boolean {
    return this.busy === 0;
  }

  get free(): number {
    // Work that arrives during a batch forms the next batch, so that a lane uses at most one connection.
    return this.kind.inSet && this.busy > 0 ? 0 : this.places - this.busy;
  }

  request(): LaneRequest {
    const { name: lane, places, busy, free } = this;
    const backMs = this.lookBack.begin();
    const back = (time: Date) => new Date(time.getTime() - backMs);
    return {
      ...{ lane, free, places, busy, leaseMs: this.kind.leaseMs },
      since: backMs === Infinity ? [] : this.since.map(back),
      takesLapsed: free > 0 && this.lapsedBusy === 0,
    };
  }

  /** `free` is the number of places that the poll could fill. Returns true if more rows may wait. */
  endLook(rows: readonly ClaimedRow[], free: number, at: Date): boolean {
    if (free <= 0) return false;
    this.lookBack.end();
    const taken = rows.flatMap(({ urgency, ready_at }) =>
      urgency === null || ready_at === null ? [] : [{ urgency, ready_at }],
    );
    const isDrained = taken.length < free;
    const last = Math.max(-1, ...taken.map(({ urgency }) => urgency));
    for (let level = 0; level < LEVEL_COUNT; level += 1) {
      if (isDrained || level < last) this.since[level] = at;
    }
    if (isDrained) return false;
    const times = taken.filter(({ urgency }) => urgency === last);
    this.since[last] = new Date(Math.max(...times.map(({ ready_at }) => ready_at.getTime())));
    return true;
  }

  changeBusy(claims: readonly Claim[], by: 1 | -1): void {
    this.busy += by * claims.length;
    this.lapsedBusy += by * claims.filter(({ row }) => row.lapsed).length;
  }
}
