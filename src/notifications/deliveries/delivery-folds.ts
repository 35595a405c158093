import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import type { Claimed } from '../../platform/work/kind.js';
import type { FoldedDelivery } from '../delivery.js';
import { DeliveriesRepository } from '../records/deliveries.repository.js';
import { claimedOf, type LoadedRow } from '../records/delivery-rows.js';

/** As many as one message may have in it: it counts them, and lists the first ones. */
const MOST_CARRIED = 500;

/** What a claim is for: a message, nothing any more, what another message has taken, or a message later. */
export type Loaded = FoldedDelivery | 'ended' | { readonly heldMs: number };

/** Makes one message of new incidents that are alike. */
@Injectable()
export class DeliveryFolds {
  constructor(private readonly deliveries: DeliveriesRepository) {}

  /** Loads what this replica has claimed, by the ids of the deliveries. */
  async load(
    tx: Tx,
    claims: readonly Pick<Claimed, 'ref' | 'fence' | 'attempt'>[],
  ): Promise<ReadonlyMap<string, Loaded>> {
    const rows = new Map((await this.deliveries.load(tx, claims)).map((row) => [row.id, row]));
    const loaded = new Map<string, Loaded>();
    const open: LoadedRow[] = [];
    for (const { ref, attempt } of claims) {
      const row = rows.get(ref);
      if (!row) loaded.set(ref, 'ended');
      else if (row.held_ms && row.held_ms > 0) loaded.set(ref, { heldMs: row.held_ms });
      else open.push({ ...row, attempts: attempt });
    }
    for (const row of open) {
      if (loaded.has(row.id)) continue;
      const own = open.flatMap(({ id }) => (loaded.has(id) || id === row.id ? [] : [id]));
      const one = await this.fold(tx, row, own);
      for (const { id } of one.carried) loaded.set(id, 'ended');
      loaded.set(row.id, one);
    }
    return loaded;
  }

  private async fold(tx: Tx, row: LoadedRow, own: readonly string[]): Promise<FoldedDelivery> {
    const delivery = claimedOf(row);
    const { id, type, channelId, groupKey } = delivery;
    const isAlone = groupKey === undefined && !row.has_carried;
    const carried = isAlone ? [] : await this.deliveries.fold(tx, id, own, MOST_CARRIED);
    const isCounted = groupKey !== undefined && type === 'incident.created';
    const alike = isCounted
      ? await this.deliveries.countAlike(tx, channelId, groupKey)
      : 1 + carried.length;
    return { delivery, carried, alike };
  }
}
