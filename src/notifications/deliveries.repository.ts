// SQL: a list is one statement with its exact total.
import { Injectable } from '@nestjs/common';
import { BY_ID, countedList, readPage } from '../platform/counting/counted-list.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { shownStart } from '../platform/text.js';
import type { Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import * as sql from './deliveries.sql.js';
import {
  type Delivery,
  type DeliveryStatus,
  type Ending,
  isReached,
  MAX_ERROR,
  NOTIFICATION,
  type Outcome,
  workOf,
} from './delivery.js';

export interface DeliveryListRequest extends PageRequest {
  readonly channelId: string;
  readonly status?: readonly DeliveryStatus[];
  readonly sort: 'created_at' | '-created_at';
}

const deliveryList = countedList({
  table: 'notification_deliveries',
  columns: sql.deliveryColumns('notification_deliveries'),
  counts: 'notification_delivery',
  counted: {
    channel_id: { filter: 'channelId', type: 'uuid', with: 'status' },
    status: { filter: 'status', type: 'text' },
  },
  sorts: { created_at: BY_ID },
});

interface LoadedDelivery extends Delivery {
  readonly left_ms: number;
  readonly has_carried: boolean;
}

/** A message: a delivery, and the deliveries that it carries. */
export interface FoldedDelivery {
  readonly delivery: Delivery & Pick<LoadedDelivery, 'left_ms'>;
  readonly carried: readonly Delivery[];
}

export interface EndedAttempt extends FoldedDelivery {
  readonly outcome: Outcome;
  readonly ending: Ending;
}

@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {}

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    return await readPage(this.statements, deliveryList(request));
  }

  async waiting(): Promise<number> {
    return (await this.statements.rows<{ n: number }>(sql.WAITING))[0]!.n;
  }

  /** Makes a delivery, or dead deliveries, pending again. Returns them in the order of their insertion. */
  async reopen(tx: Tx, channelId: string, which: string | Date): Promise<Delivery[]> {
    const statement = typeof which === 'string' ? sql.REOPEN : sql.REOPEN_DEAD;
    const rows = await this.statements.rowsIn<Delivery>(tx, statement, [channelId, which]);
    await this.work.add(tx, NOTIFICATION, ...rows.map(workOf));
    return rows.map((row) => ({ ...row, attempts: 0 }));
  }

  /** Ends deliveries that have expired without a claim. Returns the types of their channels; null if deleted. */
  async expire(tx: Tx, most: number): Promise<(string | null)[]> {
    type Late = { id: string; type: string | null };
    const rows = await this.statements.rowsIn<Late>(tx, sql.EXPIRE, [most]);
    await this.work.cancel(tx, NOTIFICATION, idsOf(rows));
    return rows.map(({ type }) => type);
  }

  async prune(before: string, most: number): Promise<number> {
    return (await this.statements.rows(sql.PRUNE, [before, most])).length;
  }

  async messages(
    tx: Tx,
    claims: readonly Pick<Claimed, 'id' | 'fence'>[],
  ): Promise<ReadonlyMap<string, FoldedDelivery>> {
    const messages = new Map<string, FoldedDelivery>();
    const loaded = await this.load(tx, claims);
    const waiting = new Map(loaded.map((row) => [row.id, row]));
    for (const row of waiting.values()) {
      waiting.delete(row.id);
      const { id, group_key, has_carried } = row;
      const isAlone = group_key === null && !has_carried;
      const carried = isAlone ? [] : await this.fold(tx, id, [...waiting.keys()]);
      for (const one of carried) waiting.delete(one.id);
      messages.set(id, { delivery: row, carried });
    }
    return messages;
  }

  async load(tx: Tx, claims: readonly Pick<Claimed, 'id' | 'fence'>[]): Promise<LoadedDelivery[]> {
    const fences = claims.map(({ fence }) => fence);
    return await this.statements.rowsIn(tx, sql.LOAD, [idsOf(claims), fences]);
  }

  async fold(tx: Tx, id: string, own: readonly string[]): Promise<Delivery[]> {
    return await this.statements.rowsIn(tx, sql.FOLD, [id, own, sql.MAX_CARRIED]);
  }

  /** Ends deliveries that need no message. */
  async drop(tx: Tx, dropped: readonly FoldedDelivery[], last_error: string): Promise<void> {
    const rows = dropped.flatMap(membersOf);
    if (rows.length === 0) return;
    await this.end(
      tx,
      rows.map((row) => ({ ...row, status: 'delivered', attempts: 0, last_error })),
    );
    await this.work.cancel(tx, NOTIFICATION, idsOf(rows));
  }

  async write(tx: Tx, attempts: readonly EndedAttempt[]): Promise<void> {
    if (attempts.some(({ carried }) => carried.length > 0)) {
      await this.statements.rowsIn(tx, sql.LOCK, [idsOf(attempts.flatMap(membersOf))]);
    }
    const ended = attempts.flatMap(({ delivery, carried, ending, outcome }): Delivery[] => {
      const last_error = ending.error === undefined ? null : shownStart(ending.error, MAX_ERROR);
      if (ending.kind === 'again') return [{ ...delivery, last_error }];
      const { kind: status } = ending;
      // The message has arrived, even if it is dead because one of several recipients rejected it.
      const end = isReached(outcome)
        ? ({ status: 'delivered', last_error: null } as const)
        : { status, last_error };
      const others = carried.map((row) => ({ ...row, ...end, attempts: 0 }));
      return [{ ...delivery, status, last_error }, ...others];
    });
    const rows = await this.end(tx, ended);
    const carried = rows.filter(({ carried_by }) => carried_by !== null);
    await this.work.cancel(tx, NOTIFICATION, idsOf(carried));
  }

  private async end(
    tx: Tx,
    ended: readonly Delivery[],
  ): Promise<Pick<Delivery, 'id' | 'carried_by'>[]> {
    if (ended.length === 0) return [];
    return await this.statements.rowsIn(tx, sql.END, [
      idsOf(ended),
      ended.map(({ carried_by }) => carried_by),
      ended.map(({ status }) => status),
      ended.map(({ last_error }) => last_error),
      ended.map(({ attempts }) => attempts),
    ]);
  }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

export const membersOf = ({ delivery, carried }: FoldedDelivery): Delivery[] => [
  delivery,
  ...carried,
];

/** Ends the pending deliveries of a restored backup without sending them, because people may have read them already. */
export async function endDeliveriesOfBackup(tx: Tx): Promise<number> {
  const [, unsent] = await tx.query<[unknown, number]>(
    `update notification_deliveries
        set status = 'dead', ended_at = now(), last_error = 'Not sent: the database was restored from a backup.'
      where status = 'pending'`,
  );
  await tx.query('delete from work where kind = $1', [NOTIFICATION.name]);
  return unsent;
}

export async function disableChannels(tx: Tx): Promise<number> {
  const [, disabled] = await tx.query<[unknown, number]>(
    `update notification_channels set enabled = false, version = version + 1 where enabled`,
  );
  return disabled;
}
