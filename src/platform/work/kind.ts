import type { Tx } from '../database/transactions.js';
import type { Span } from '../tracing/tracing.js';

/** Work to add. `ref` is the id of the subject: there is one row for each kind and ref. */
export interface NewWork<D = unknown> {
  readonly ref: string;
  readonly data?: D;
  /** Default: the lane with the name of the kind. Required for kinds with `hasLanes`. */
  readonly lane?: string;
  /** Rows of a line are processed one after another, in the order in which they were added. */
  readonly line?: string;
  /** From 0, the most urgent, to 4. Default: 2. */
  readonly urgency?: number;
  readonly dueAt?: Date;
  /** Span of the request that waits for claimed work. Default: the current span. */
  readonly span?: Span | undefined;
}

export interface Claimed<D = unknown> {
  readonly id: string;
  readonly fence: number;
  readonly kind: string;
  readonly ref: string;
  readonly lane: string;
  readonly data: D;
  readonly state: unknown;
  readonly attempt: number;
  /** True if the worker of the previous attempt stored no outcome, for example because its process was killed. */
  readonly lapsed: boolean;
  readonly permit: unknown;
  /** Aborted when the outcome no longer counts: time limit, lost claim, or shutdown. */
  readonly signal: AbortSignal;
  /** Stores a state for later attempts, immediately or in `tx`. Throws LostClaims if another worker has the claim. */
  note(state: object, tx?: Tx): Promise<void>;
}

export interface Again {
  readonly inMs: number;
  readonly why?: string;
  /** Default: true. Work is dead after `mostAttempts` attempts that count. */
  readonly countsAsAttempt?: boolean;
  readonly lane?: string;
  readonly state?: object;
}

/** `one` must be idempotent. `inSet`, `write` and `gaveUp` run in the transaction that ends the claim, so exactly once. */
export interface Kind<D = unknown, R = unknown> {
  /** Stored in the rows, and the name of the lane, so it must never change. */
  readonly name: string;
  /** Each row names its lane: a row of `work_lanes` with its own places and pauses. */
  readonly hasLanes?: true;
  /** Excludes this kind from the general gauges of queues. */
  readonly hasOwnGauges?: true;
  /** Rows done at the same time on each replica, or the size of a set. A row of `work_lanes` overrides it. */
  readonly places?: number;
  /** Domain events that become work of this kind: see DomainEvents. */
  readonly events?: EventFilter;
  /** Time after which another replica claims the work of a killed process. Running work renews its lease. */
  readonly leaseMs?: number;
  readonly timeLimitMs?: number;
  readonly mostAttempts?: number;
  readonly backoffMs?: (attempt: number) => number;
  /** Runs before the claim, in its transaction. Lapsed claims move to the lane `<kind>:lapsed`, which has no gate. */
  readonly gate?: (tx: Tx) => Promise<object | undefined>;
  /** Does the work of all rows in one transaction. Returns the rows that need another attempt. */
  inSet?(tx: Tx, rows: readonly Claimed<D>[]): Promise<ReadonlyMap<Claimed<D>, Again> | void>;
  one?(row: Claimed<D>): Promise<R | AgainOutcome<R>>;
  /** Stores the results of `one`, only of claims that this replica still has. */
  write?(tx: Tx, ended: readonly Ended<D, R>[]): Promise<void>;
  /** Stores the failure of the work after its last attempt. */
  gaveUp?(tx: Tx, row: Claimed<D>, error: string): Promise<void>;
}

export const DEFAULTS = {
  places: 0,
  leaseMs: 10_000,
  timeLimitMs: 300_000,
  mostAttempts: 9,
  backoffMs: (attempt: number) => Math.min(300_000, 1_000 * 2 ** (attempt - 1)),
} as const;

export type DefinedKind = Kind & Required<Pick<Kind, keyof typeof DEFAULTS>>;

export interface Ended<D = unknown, R = unknown> {
  readonly row: Claimed<D>;
  readonly result: R;
}

/** Returned by `one` if the work needs another attempt. `write` stores the result, if there is any. */
export class AgainOutcome<R = never> {
  constructor(
    readonly again: Again,
    readonly result?: R,
  ) {}
}

/** Other workers have taken over some of the claims. The transaction must be rolled back. */
export class LostClaims extends Error {
  constructor(readonly ids: ReadonlySet<string>) {
    super('Another worker has taken over the work.');
  }
}

/** Selects domain events by type, and by a predicate on their payload in the JSON path language. */
export interface EventFilter {
  readonly types: readonly string[];
  readonly where?: string;
}
