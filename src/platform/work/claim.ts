import { type Claimed, DEFAULTS, type Kind } from './kind.js';
import { type ClaimedRow, LEVEL_COUNT, type Room } from './work.repository.js';

/** Work that this replica does now, with the time for which its claim counts. */
export class Claim implements Claimed {
  readonly id: string;
  readonly fence: number;
  readonly kind: string;
  readonly ref: string;
  readonly lane: string;
  readonly data: unknown;
  readonly state: unknown;
  readonly attempt: number;
  readonly lapsed: boolean;
  readonly leaseMs: number;
  private readonly controller = new AbortController();
  private readonly timeIsUp: number;
  private expiresAt: number;

  constructor(
    readonly row: ClaimedRow,
    readonly definition: Kind,
    readonly permit: unknown,
    readonly note: Claimed['note'],
  ) {
    this.id = row.id;
    this.fence = row.fence;
    this.kind = row.kind;
    this.ref = row.ref;
    this.lane = row.lane;
    this.data = row.data;
    this.state = row.state;
    this.attempt = row.attempts;
    this.lapsed = row.lapsed;
    this.leaseMs = definition.leaseMs ?? DEFAULTS.leaseMs;
    this.expiresAt = performance.now() + this.leaseMs;
    this.timeIsUp = performance.now() + (definition.timeLimitMs ?? DEFAULTS.timeLimitMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isExpired(): boolean {
    return performance.now() > this.expiresAt;
  }

  /** Whether a third of the lease is over. */
  get needsRenewal(): boolean {
    return performance.now() > this.expiresAt - (2 * this.leaseMs) / 3;
  }

  get isTooLong(): boolean {
    return performance.now() > this.timeIsUp;
  }

  /** Whether all attempts are used up after the given number of further ones. */
  isWornOut(further = 0): boolean {
    return this.attempt + further > (this.definition.mostAttempts ?? DEFAULTS.mostAttempts);
  }

  renewed(): void {
    this.expiresAt = performance.now() + this.leaseMs;
  }

  abort(reason: string): void {
    this.controller.abort(new Error(reason));
  }
}

/**
 * A look begins a moment before the last one, because a row becomes visible after it became ready. Now and then a look
 * goes further back: for long transactions, and for a restore.
 */
const LOOKS = [
  { everyMs: 30_000, backMs: Infinity },
  { everyMs: 2_000, backMs: 60_000 },
  { everyMs: 0, backMs: 2_000 },
];

/** How far back the next look goes. */
export class LookDepth {
  private readonly lookedAt = LOOKS.map(() => -Infinity);
  private begun = { depth: 0, at: 0 };

  /** Begins a look. */
  begin(): number {
    const at = performance.now();
    const depth = LOOKS.findIndex(({ everyMs }, level) => at - this.lookedAt[level]! >= everyMs);
    this.begun = { depth, at };
    return LOOKS[depth]!.backMs;
  }

  /** The look that has begun was made. */
  end(): void {
    this.lookedAt.fill(this.begun.at, this.begun.depth);
  }
}

/** The places of one lane on this replica. */
export class Lane {
  private busy = 0;
  private lapsedBusy = 0;
  private readonly depth = new LookDepth();
  /** For each urgency: nothing that became ready before this time waits, apart from what looks further back find. */
  private readonly since: Date[] = [];

  constructor(
    readonly name: string,
    readonly kind: Kind,
    public places = kind.places ?? 0,
  ) {}

  get isIdle(): boolean {
    return this.busy === 0;
  }

  get free(): number {
    // One set at a time: what arrives meanwhile becomes the next set, and a lane takes at most one connection.
    return this.kind.inSet && this.busy > 0 ? 0 : this.places - this.busy;
  }

  /** The room for a look that begins. */
  room(): Room {
    const { name: lane, places, busy, free } = this;
    const { leaseMs = DEFAULTS.leaseMs } = this.kind;
    const takesLapsed = free > 0 && this.lapsedBusy === 0;
    const backMs = this.depth.begin();
    const since =
      backMs === Infinity ? [] : this.since.map((time) => new Date(time.getTime() - backMs));
    return { lane, free, places, busy, leaseMs, since, takesLapsed };
  }

  /**
   * Remembers where the next look begins. A look takes the rows by urgency, then by age. Returns whether more may wait.
   * @param free places that the look could use
   */
  looked(rows: readonly ClaimedRow[], free: number, at: Date): boolean {
    if (free <= 0) return false;
    this.depth.end();
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

  take(claims: readonly Claim[], by: 1 | -1): void {
    this.busy += by * claims.length;
    this.lapsedBusy += by * claims.filter(({ lapsed }) => lapsed).length;
  }
}
