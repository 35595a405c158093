import { type Claimed, DEFAULTS, type Kind } from './kind.js';
import type { ClaimedRow, Room } from './work.repository.js';

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

/** The places of one lane on this replica. */
export class Lane {
  private busy = 0;
  private lapsedBusy = 0;
  /** Nothing that became due before this time waits. */
  since: Date | undefined;

  constructor(
    readonly name: string,
    readonly kind: Kind,
    public places = kind.places ?? 0,
  ) {}

  get isIdle(): boolean {
    return this.busy === 0;
  }

  get room(): Room {
    const { leaseMs = DEFAULTS.leaseMs } = this.kind;
    // One set at a time: what arrives meanwhile becomes the next set, and a lane takes at most one connection.
    const free = this.kind.inSet && this.busy > 0 ? 0 : this.places - this.busy;
    const takesLapsed = free > 0 && this.lapsedBusy === 0;
    const { name: lane, places, busy, since } = this;
    return { lane, free, places, busy, leaseMs, since, takesLapsed };
  }

  take(claims: readonly Claim[], by: 1 | -1): void {
    this.busy += by * claims.length;
    this.lapsedBusy += by * claims.filter(({ lapsed }) => lapsed).length;
  }
}
