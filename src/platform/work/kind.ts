import type { Tx } from '../database/transactions.js';
import type { Span } from '../tracing/tracing.js';

/** Work that is added. `ref` names the thing that the work is about: there is one row for each kind and ref. */
export interface NewWork<D = unknown> {
  readonly ref: string;
  readonly data?: D;
  /** For kinds with lanes of their own. */
  readonly lane?: string;
  /** Rows of the same line are worked on one after another, in the order in which they were added. */
  readonly line?: string;
  /** From 0, the most urgent, to 4. Default: 2. */
  readonly urgency?: number;
  /** Earliest start. Default: at once. */
  readonly dueAt?: Date;
  /** Span of the request that waits for claimed work. Default: the current span. */
  readonly span?: Span | undefined;
}

/** Work that this replica has claimed. */
export interface Claimed<D = unknown> {
  readonly id: string;
  /** Number of the claim: a worker whose claim was taken over has a lower one. */
  readonly fence: number;
  readonly kind: string;
  readonly ref: string;
  readonly lane: string;
  readonly data: D;
  /** Stored by an earlier attempt. */
  readonly state: unknown;
  /** 1 in the first attempt. */
  readonly attempt: number;
  /** Whether an earlier worker ended without an outcome, for example because its process was killed. */
  readonly lapsed: boolean;
  /** Result of the gate of the kind. */
  readonly permit: unknown;
  /** Aborted if the outcome no longer counts: time limit, lease lost to another worker, or shutdown. */
  readonly signal: AbortSignal;
  /** Stores a state for later attempts, at once or in `tx`. Throws if another worker has the claim. */
  note(state: object, tx?: Tx): Promise<void>;
}

/** Outcome of work that has to be tried again. */
export interface Again {
  readonly inMs: number;
  readonly why?: string;
  /**
   * Default: true. Work is dead after a limited number of attempts. An attempt that does not count is repeated at once
   * if the work was added again meanwhile.
   */
  readonly countsAsAttempt?: boolean;
  /** Lane of the next attempt. Default: the same. */
  readonly lane?: string;
  /** State for the next attempt. Default: the same. */
  readonly state?: object;
}

/**
 * A kind of work: how it is done, and how many places it has on each replica. Work may be done more than once, for
 * example if its process is killed before the end is stored, so `one` has to be idempotent. `inSet` and `write` run in
 * the transaction that ends the work, so their changes happen exactly once.
 */
export interface Kind<D = unknown, R = unknown> {
  /** Also names the lane, so it never changes. */
  readonly name: string;
  /** The rows name their lanes, which are rows of `work_lanes` with places and pauses of their own. */
  readonly hasLanes?: true;
  /** Its lane is also a row of `work_lanes`, so that it can be paused. Other gauges count its work. */
  readonly isPausable?: true;
  /** Number of rows that are worked on at a time on each replica, or the size of a set. Lanes of the kind have their own. */
  readonly places?: number;
  /** Domain events that become work of this kind: see DomainEvents. */
  readonly news?: News;
  /** Time until another replica takes over the work of a killed process. It is renewed while the work is done. */
  readonly leaseMs?: number;
  /** Longer attempts are aborted and count as failed. */
  readonly timeLimitMs?: number;
  readonly mostAttempts?: number;
  /** Pause after the given attempt. Default: doubles from 1 s to 5 min. */
  readonly backoffMs?: (attempt: number) => number;
  /**
   * Runs in the transaction of the claim, before it. Nothing is claimed if it returns undefined. Lapsed claims move to
   * the lane `<kind>:lapsed` without the gate, so that they can be settled while it is closed.
   */
  readonly gate?: (tx: Tx) => Promise<object | undefined>;
  /** Does the work of all rows in one transaction. Returns the rows that have to be tried again. */
  inSet?(tx: Tx, rows: readonly Claimed<D>[]): Promise<ReadonlyMap<Claimed<D>, Again> | void>;
  /** Does the work of one row outside of a transaction. */
  one?(row: Claimed<D>): Promise<R | AgainOutcome<R>>;
  /** Stores the results of `one` in the transaction that ends the attempt, so only of claims that still count. */
  write?(tx: Tx, ended: readonly Ended<D, R>[]): Promise<void>;
  /** Stores that the work is given up, in the transaction that makes it dead. */
  gaveUp?(tx: Tx, row: Claimed<D>, error: string): Promise<void>;
}

export interface Ended<D = unknown, R = unknown> {
  readonly row: Claimed<D>;
  readonly result: R;
}

/** Returned by `one` if the work has to be tried again, with a result for `write`, if there is any. */
export class AgainOutcome<R = never> {
  constructor(
    readonly again: Again,
    readonly result?: R,
  ) {}
}

/** Some claims were taken over by other workers. The transaction has to be rolled back. */
export class LostClaims extends Error {
  constructor(readonly ids: ReadonlySet<string>) {
    super('Another worker has taken over the work.');
  }
}

/** Selects domain events by type, and by a predicate on their payload in the JSON path language. */
export interface News {
  readonly types: readonly string[];
  readonly where?: string;
}

export const DEFAULTS = {
  leaseMs: 10_000,
  timeLimitMs: 300_000,
  mostAttempts: 9,
  backoffMs: (attempt: number) => Math.min(300_000, 1_000 * 2 ** (attempt - 1)),
} as const;

const NAME = /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$/;
const LONGEST_NAME = 80;

export function requireValid(kind: Kind): void {
  const { name } = kind;
  if (!NAME.test(name) || name.length > LONGEST_NAME) {
    throw new Error(
      `'${name}' is not a valid name of work: use lower-case words with dots and hyphens.`,
    );
  }
  if (!kind.inSet === !kind.one) throw new Error(`${name} needs either inSet or one.`);
}

/** Rejects a value that is too large when it is written, not when it is read. */
export function requireBounded(what: string, value: unknown, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > maxBytes) {
    throw new RangeError(`${what} has ${bytes} bytes of JSON; at most ${maxBytes} are allowed.`);
  }
}
