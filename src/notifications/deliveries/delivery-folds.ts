import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import type { ClaimedDelivery, FoldedDelivery } from '../delivery.js';
import { DeliveryFoldsRepository } from '../records/delivery-folds.repository.js';

/** As many as one message may have in it: it counts them, and lists the first ones. */
const MOST_CARRIED = 500;

/** Makes one message of new incidents that are alike. */
@Injectable()
export class DeliveryFolds {
  constructor(private readonly folds: DeliveryFoldsRepository) {}

  /** In the transaction of the claim: from then on, no replica sends what a message has in it on its own. */
  async fold(tx: Tx, claimed: readonly ClaimedDelivery[]): Promise<FoldedDelivery[]> {
    const folded: FoldedDelivery[] = [];
    const taken = new Set<string>();
    for (const delivery of claimed) {
      if (taken.has(delivery.id)) continue;
      const own = claimed.flatMap(({ id, attempts }) =>
        attempts === 1 && !taken.has(id) ? [id] : [],
      );
      const one = await this.foldOne(tx, delivery, own);
      for (const { id } of one.carried) taken.add(id);
      taken.add(delivery.id);
      folded.push(one);
    }
    return folded;
  }

  private async foldOne(
    tx: Tx,
    delivery: ClaimedDelivery,
    own: readonly string[],
  ): Promise<FoldedDelivery> {
    const { channelId, groupKey, fence } = delivery;
    // Only a delivery that was claimed before can have others in its message without a group: it was redelivered.
    if (groupKey === undefined && fence === 1) return { delivery, carried: [], alike: 1 };
    const most = groupKey === undefined ? 0 : MOST_CARRIED;
    const carried = await this.folds.fold(tx, delivery, own, most);
    if (groupKey === undefined) return { delivery, carried, alike: 1 + carried.length };
    return { delivery, carried, alike: await this.folds.countAlike(tx, channelId, groupKey) };
  }
}
