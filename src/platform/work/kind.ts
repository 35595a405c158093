import type { Tx } from '../database/transactions.js';
import type { Span } from '../tracing/tracing.js';

/** Work to add. `ref` is the id of the subject: there is one row for each kind and ref. */
export interface NewWork<D = unknown> {
  readonly ref: string;
  readonly data?: D;
  /** Lane of the row. Default: the lane that has the name of the kind. Required for kinds with `hasLanes`. */
  readonly lane?: string;
  /** Rows with the same line are processed one after another, in the order in which they were added. */
  readonly line?: string;
  /** Urgency from 0 (most urgent) to 4. Default: 2. */
  readonly urgency?: number;
  readonly dueAt?: Date;
  /** Trace span of the request that waits for the work. Default: the current span. */
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
  /** Aborts when the outcome no longer counts: at the time limit, after the loss of the claim, or at shutdown. */
  readonly signal: AbortSignal;
  /** Stores a state for later attempts. Throws LostClaims if another worker has taken over the claim. */
  note(state: object, tx?: Tx): Promise<void>;
}

export interface Again {
  readonly inMs: number;
  readonly why?: string;
  /** False if the attempt does not count. Work is dead after `mostAttempts` attempts that count. Default: true. */
  readonly countsAsAttempt?: boolean;
  readonly lane?: string;
  readonly state?: object;
}

/** `one` must be idempotent. `inSet`, `write` and `gaveUp` commit with the end of the claim: exactly once. */
export interface Kind<D = unknown, R = unknown> {
  /** Name of the kind and of its lane. Rows contain the name, so it must never change. */
  readonly name: string;
  /** True if each row names its own lane, which has a row in `work_lanes` with its own places and pauses. */
  readonly hasLanes?: true;
  /** Excludes this kind from the general gauges of queues. */
  readonly hasOwnGauges?: true;
  /** Rows that each replica processes at once, or the size of a batch. A row of `work_lanes` overrides the number. */
  readonly places?: number;
  readonly events?: EventFilter;
  /** Time after which another replica claims the work of a killed process. Running work renews its lease. */
  readonly leaseMs?: number;
  readonly timeLimitMs?: number;
  readonly mostAttempts?: number;
  readonly backoffMs?: (attempt: number) => number;
  /** Permit check in the transaction of the claim. Expired claims move to the lane `<kind>:lapsed` without a check. */
  readonly gate?: (tx: Tx) => Promise<object | undefined>;
  /** Does the work of a batch in one transaction. Returns the rows that need another attempt. */
  inSet?(tx: Tx, rows: readonly Claimed<D>[]): Promise<ReadonlyMap<Claimed<D>, Again> | void>;
  one?(row: Claimed<D>): Promise<R | AgainOutcome<R>>;
  /** Stores the results of `one`. Gets only the claims that this replica still has. */
  write?(tx: Tx, ended: readonly Ended<D, R>[]): Promise<void>;
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

/** Result of `one` if the work needs another attempt. `write` stores `result`, if it is given. */
export class AgainOutcome<R = never> {
  constructor(
    readonly again: Again,
    readonly result?: R,
  ) {}
}

/** Error: other workers have taken over some of the claims. The transaction must be rolled back. */
export class LostClaims extends Error {
  constructor(readonly ids: ReadonlySet<string>) {
    super('Another worker has taken over the work.');
  }
}

export interface EventFilter {
  readonly types: readonly string[];
  readonly where?: string;
}
