import { Injectable } from '@nestjs/common';
import { Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { ADD_CLAIMED, END, LOOK, NEXT_IN_LINE, RENEW } from './claim.sql.js';
import { type Again, type Claimed, LostClaims, type NewWork } from './kind.js';

export interface LaneRequest {
  readonly lane: string;
  readonly free: number;
  readonly places: number;
  readonly busy: number;
  readonly leaseMs: number;
  /** True if the lane may claim a lapsed claim. Only one at a time, so that work that kills the process fails alone. */
  readonly takesLapsed: boolean;
  /** For each urgency, the time before which no ready work waits. The index scan begins at this time, to skip removed rows. */
  readonly since: readonly (Date | undefined)[];
}

export interface ClaimedRow extends Omit<Claimed, 'permit' | 'signal' | 'note'> {
  readonly traceparent: string | null;
  /** Time at which the row became ready, and its urgency. Null for a lapsed claim. */
  readonly ready_at: Date | null;
  readonly urgency: number | null;
}

/** A row of `work_lanes` that the requests do not know yet, that is paused, or that is limited to one place. */
export interface LimitedLane {
  readonly lane: string;
  readonly kind: string | null;
  readonly places: number | null;
}

export interface Look {
  readonly claimed: readonly ClaimedRow[];
  readonly free: readonly number[];
  readonly at: Date;
  /** True if due rows became ready. The next look can claim these rows. */
  readonly made_ready: boolean;
  readonly lanes: readonly LimitedLane[];
  /** Gated lanes with work that `claimIn` can claim. */
  readonly ready: readonly string[];
}

export type ClaimId = Pick<Claimed, 'id' | 'fence'>;

export interface Ending {
  readonly row: ClaimId;
  readonly again?: Again;
  readonly diedOf?: string;
}

interface Renewal {
  readonly row: ClaimId;
  readonly kind: { readonly leaseMs: number };
  readonly state?: object;
}

export interface Removed {
  readonly id: string;
  readonly kind: string;
  readonly ref: string;
  readonly line: string | null;
}

const SINCE_EVER = '-infinity';
export const LEVEL_COUNT = 5;
export const NORMAL = 2;

/** Claims of work: each statement changes only claims that the worker still has. */
@Injectable()
export class WorkRepository {
  constructor(private readonly statements: Statements) {}

  async addClaimed(
    tx: Tx,
    worker: string,
    kind: string,
    leaseMs: number,
    added: readonly NewWork[],
  ): Promise<readonly ClaimedRow[]> {
    const rows = added.map(({ ref, data, lane, urgency = NORMAL, span }, place) => {
      return { place, ref, data, lane, urgency, traceparent: span?.traceparent };
    });
    const values = [worker, kind, leaseMs, JSON.stringify(rows)];
    return await this.statements.rowsIn(tx, ADD_CLAIMED, values);
  }

  /** @param lapsedLanes lanes of lapsed claims, by kind; @param dueSince minimum due time; @param gated see `ready` */
  async look(
    worker: string,
    requests: readonly LaneRequest[],
    {
      lapsedLanes = {},
      dueSince = SINCE_EVER,
      gated = [],
    }: {
      readonly lapsedLanes?: Readonly<Record<string, string>>;
      readonly dueSince?: Date | string | undefined;
      readonly gated?: readonly Pick<LaneRequest, 'lane' | 'since'>[];
    } = {},
    tx?: Tx,
  ): Promise<Look> {
    const rows = await this.statements.rowsIn<ClaimedRow & Omit<Look, 'claimed'>>(tx, LOOK, [
      worker,
      JSON.stringify(lapsedLanes),
      dueSince,
      requests.map(({ lane }) => lane),
      requests.map(({ free }) => free),
      requests.map(({ leaseMs }) => leaseMs),
      requests.map(({ takesLapsed }) => takesLapsed),
      requests.map(({ places }) => places),
      requests.map(({ busy }) => busy),
      requests.map(sinceOf),
      gated.map(({ lane }) => lane),
      gated.map(sinceOf),
    ]);
    // A look that claims nothing returns a row of nulls.
    const claimed = rows.filter(({ id }) => id !== null);
    return { ...rows[0]!, claimed: claimed.sort((a, b) => Number(a.id) - Number(b.id)) };
  }

  /** Claims in a transaction that has passed the gate of the lanes. Makes no due rows ready. */
  async claimIn(tx: Tx, worker: string, requests: readonly LaneRequest[]): Promise<Look> {
    return await this.look(worker, requests, { dueSince: 'infinity' }, tx);
  }

  /** Ends claims, last in the transaction that does the work. Throws LostClaims if the worker has lost a claim. */
  async end(tx: Tx, worker: string, endings: readonly Ending[]): Promise<void> {
    const ended = await this.statements.rowsIn<Removed>(tx, END, [
      worker,
      endings.map(({ row }) => row.id),
      endings.map(({ row }) => row.fence),
      endings.map(({ again }) => again && Math.max(0, Math.round(again.inMs))),
      endings.map(({ diedOf }) => diedOf),
      endings.map(({ again }) => again?.why),
      endings.map(({ again }) => again?.state),
      endings.map(({ again }) => again?.countsAsAttempt !== false),
      endings.map(({ again }) => again?.lane),
    ]);
    if (ended.length < endings.length) {
      const mine = new Set(ended.map(({ id }) => id));
      throw new LostClaims(new Set(endings.map(({ row }) => row.id).filter((id) => !mine.has(id))));
    }
    await this.advanceLines(tx, ended);
  }

  async advanceLines(tx: Tx, ended: readonly Removed[]): Promise<void> {
    const inLine = ended.filter(({ line }) => line !== null);
    if (inLine.length === 0) return;
    const lines = inLine.map(({ line }) => line);
    await this.statements.rowsIn(tx, NEXT_IN_LINE, [inLine.map(({ kind }) => kind), lines]);
  }

  /** Renews leases and stores the states that are given. Returns the ids of the claims that the worker still has. */
  async renew(worker: string, claims: readonly Renewal[], tx?: Tx): Promise<ReadonlySet<string>> {
    const rows = await this.statements.rowsIn<ClaimId>(tx, RENEW, [
      worker,
      claims.map(({ row }) => row.id),
      claims.map(({ row }) => row.fence),
      claims.map(({ kind }) => kind.leaseMs),
      claims.map(({ state }) => state),
    ]);
    return new Set(rows.map(({ id }) => id));
  }
}

const sinceOf = ({ since }: Pick<LaneRequest, 'since'>) =>
  Array.from({ length: LEVEL_COUNT }, (_, urgency) => since[urgency] ?? SINCE_EVER);
