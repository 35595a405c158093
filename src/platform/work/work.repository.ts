import { Injectable } from '@nestjs/common';
import { Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { type Again, type Claimed, type Kind, LostClaims, type NewWork } from './kind.js';
import type { WorkEntity } from './work.entity.js';
import {
  ADD,
  ADD_CLAIMED,
  CANCEL,
  CLAIM,
  END,
  ENSURE,
  ENSURE_LANES,
  HURRY,
  HURRY_LANE,
  LIMIT_LOCK_WAITS,
  LOOK,
  NEXT_IN_LINE,
  NOTE,
  RENEW,
  RESUME_LANE,
  SLOW_LANE,
} from './work.sql.js';

/** A lane with a pause, or with places of its own. */
export interface OwnLane {
  readonly lane: string;
  /** Null: the lane has no kind of its own. */
  readonly kind: string | null;
  /** Null: as many as its kind has. */
  readonly places: number | null;
}

/** Free places of a lane on this replica. */
export interface Room {
  readonly lane: string;
  readonly free: number;
  readonly places: number;
  readonly busy: number;
  readonly leaseMs: number;
  /** Claims that lapsed are taken one at a time: if one of them ends the process, it fails alone. */
  readonly takesLapsed: boolean;
  /** For each urgency: nothing older waits. The scan of the index starts here instead of stepping over removed rows. */
  readonly since: readonly (Date | undefined)[];
}

export type ClaimedRow = Pick<
  WorkEntity,
  | 'id'
  | 'kind'
  | 'ref'
  | 'lane'
  | 'fence'
  | 'attempts'
  | 'data'
  | 'state'
  | 'traceparent'
  | 'added_at'
> & {
  readonly lapsed: boolean;
  /** When the row became ready, and its urgency. Null for a row that lapsed. */
  readonly ready_at: Date | null;
  readonly urgency: number | null;
};

export interface ClaimLook {
  readonly claimed: readonly ClaimedRow[];
  /** For each room: the places that its lane gave. */
  readonly free: readonly number[];
  readonly at: Date;
}

interface Look extends ClaimLook {
  /** Whether rows became ready that the next look can claim. */
  readonly hasLifted: boolean;
  /** Lanes that the rooms do not have, that have other places, or that are paused or narrow. */
  readonly lanes: readonly OwnLane[];
  /** Gated lanes with work that may be claimed behind their gates. */
  readonly ready: readonly string[];
}

/** How the work of a claim ends: done, to be tried again, or dead. */
export interface Ending {
  readonly row: Pick<Claimed, 'id' | 'fence'>;
  readonly again?: Again;
  readonly diedOf?: string;
}

type InLine = Pick<WorkEntity, 'id' | 'kind' | 'line'>;

/** Of a kind that has one row. */
const ONLY_REF = '00000000-0000-0000-0000-000000000000';
const SINCE_EVER = '-infinity';
export const LEVEL_COUNT = 5;
const NORMAL = 2;

@Injectable()
export class WorkRepository {
  constructor(private readonly statements: Statements) {}

  /** Adds work. Work that waits already gets the new data. Work that is being done is done again afterwards. */
  async add(
    tx: Tx,
    kind: string,
    added: readonly NewWork[],
    traceparent: string | undefined,
  ): Promise<void> {
    const rows = added.map(({ ref, data, lane, line, urgency = NORMAL, dueAt }, place) => {
      return { place, ref, data, lane, line, urgency, due_at: dueAt };
    });
    await this.statements.rowsIn(tx, ADD, [kind, JSON.stringify(rows), traceparent]);
  }

  /** Returns the claimed rows, without those that are being done already. */
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

  /** Adds a row of each kind if it is not there. */
  async ensure(kinds: readonly string[]): Promise<void> {
    await this.statements.rows(ENSURE, [kinds, ONLY_REF, NORMAL]);
  }

  /** Lets domain events become work of these kinds. */
  async ensureLanes(kinds: readonly Kind[]): Promise<void> {
    const lanes = kinds
      .filter(({ news, isPausable }) => news ?? isPausable)
      .map(({ name, news, isPausable }) => {
        return { lane: name, types: news?.types, payload: news?.where, kind: isPausable && name };
      });
    await this.statements.rows(ENSURE_LANES, [JSON.stringify(lanes)]);
  }

  async limitLockWaits(tx: Tx, ms: number): Promise<void> {
    await this.statements.rowsIn(tx, LIMIT_LOCK_WAITS, [String(ms)]);
  }

  /**
   * @param lapsedLanes where lapsed claims of a kind go on
   * @param since no earlier row became due
   * @param gated lanes whose work claimIn claims
   */
  async look(
    worker: string,
    rooms: readonly Room[],
    lapsedLanes: Readonly<Record<string, string>>,
    since: Date | undefined,
    gated: readonly Pick<Room, 'lane' | 'since'>[] = [],
  ): Promise<Look> {
    const lapsed = JSON.stringify(lapsedLanes);
    const behind = [gated.map(({ lane }) => lane), gated.map(sinceOf)];
    const values = [worker, lapsed, since ?? SINCE_EVER, ...valuesOf(rooms), ...behind];
    const rows = await this.statements.rows<
      ClaimedRow & { readonly has_lifted: boolean } & Pick<Look, 'at' | 'free' | 'lanes' | 'ready'>
    >(LOOK, values);
    const [{ has_lifted, at, free, lanes, ready }] = rows as [(typeof rows)[number]];
    return { claimed: claimedOf(rows), free, hasLifted: has_lifted, at, lanes, ready };
  }

  /** Claims in a transaction that has passed the gate of the lanes. */
  async claimIn(tx: Tx, worker: string, rooms: readonly Room[]): Promise<ClaimLook> {
    const values = [worker, ...valuesOf(rooms)];
    const claimed = await this.statements.rowsIn<ClaimedRow & Omit<ClaimLook, 'claimed'>>(
      tx,
      CLAIM,
      values,
    );
    const [{ free, at }] = claimed as [(typeof claimed)[number]];
    return { claimed: claimedOf(claimed), free, at };
  }

  /** The last statement of the transaction that does the work. Throws LostClaims if a claim no longer counts. */
  async end(tx: Tx, worker: string, endings: readonly Ending[]): Promise<void> {
    const ended = await this.statements.rowsIn<InLine>(tx, END, [
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
    await this.moveLines(tx, ended);
  }

  /** Returns the ids of the claims that still count. */
  async renew(
    worker: string,
    claims: readonly (Ending['row'] & { readonly leaseMs: number })[],
  ): Promise<ReadonlySet<string>> {
    const rows = await this.statements.rows<{ id: string }>(RENEW, [
      worker,
      claims.map(({ id }) => id),
      claims.map(({ fence }) => fence),
      claims.map(({ leaseMs }) => leaseMs),
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the ids of the claims that still count. */
  async note(
    worker: string,
    notes: readonly { readonly row: Ending['row']; readonly state: object }[],
    tx?: Tx,
  ): Promise<ReadonlySet<string>> {
    const values = [
      worker,
      notes.map(({ row }) => row.id),
      notes.map(({ row }) => row.fence),
      notes.map(({ state }) => state),
    ];
    const rows = await this.statements.rowsIn<{ id: string }>(tx, NOTE, values);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the refs of the removed rows. */
  async cancel(tx: Tx, kind: string, refs: readonly string[], isWaiting: boolean) {
    const values = [kind, refs, isWaiting];
    const gone = await this.statements.rowsIn<InLine & { ref: string }>(tx, CANCEL, values);
    await this.moveLines(tx, gone);
    return gone.map(({ ref }) => ref);
  }

  async slowLane(
    tx: Tx,
    lane: string,
    pauseMs: number,
    narrowMs: number,
    reason?: object,
  ): Promise<void> {
    await this.statements.rowsIn(tx, SLOW_LANE, [lane, pauseMs, narrowMs, reason]);
  }

  async resumeLane(tx: Tx, lane: string, widens: boolean): Promise<void> {
    await this.statements.rowsIn(tx, RESUME_LANE, [lane, widens]);
  }

  async hurry(tx: Tx, kind: string, refs: readonly string[], inMs: number): Promise<void> {
    await this.statements.rowsIn(tx, HURRY, [kind, refs, inMs]);
  }

  async hurryLane(tx: Tx, lane: string): Promise<void> {
    await this.statements.rowsIn(tx, HURRY_LANE, [lane]);
  }

  private async moveLines(tx: Tx, ended: readonly InLine[]): Promise<void> {
    const inLine = ended.filter(({ line }) => line !== null);
    if (inLine.length === 0) return;
    const lines = inLine.map(({ line }) => line);
    await this.statements.rowsIn(tx, NEXT_IN_LINE, [inLine.map(({ kind }) => kind), lines]);
  }
}

function valuesOf(rooms: readonly Room[]): unknown[] {
  return [
    rooms.map(({ lane }) => lane),
    rooms.map(({ free }) => free),
    rooms.map(({ leaseMs }) => leaseMs),
    rooms.map(({ takesLapsed }) => takesLapsed),
    rooms.map(({ places }) => places),
    rooms.map(({ busy }) => busy),
    rooms.map(sinceOf),
  ];
}

const sinceOf = ({ since }: Pick<Room, 'since'>) =>
  Array.from({ length: LEVEL_COUNT }, (_, urgency) => since[urgency] ?? SINCE_EVER);

/** Without the row of nulls that stands for nothing. */
function claimedOf(rows: readonly ClaimedRow[]): ClaimedRow[] {
  return rows
    .filter(({ id }) => id !== null)
    .sort((one, other) => Number(one.id) - Number(other.id));
}
