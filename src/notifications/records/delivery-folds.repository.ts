// SQL: taking what is alike skips what other replicas have locked, and what follows is conditional on the claim of the carrier.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ClaimedDelivery, Delivery } from '../delivery.js';
import { DELIVERY_COLUMNS, deliveryOf, type DeliveryRow } from './delivery-rows.js';
import { firstOf, isCarried } from './delivery-writes.repository.js';

const COLUMNS = DELIVERY_COLUMNS.map((column) => `alike.${column}`).join(', ');

/**
 * A carrier takes the new incidents of its source that wait, held ones too: critical ones only with a critical one of the same
 * group. Of approvals it
 * takes those that the same playbook asks for, for the same type of action. It takes
 * them in its first attempt, so that each attempt has the same message. Of an incident, an earlier delivery goes first.
 */
const FOLD: Statement = {
  name: 'notification_deliveries_fold',
  text: `
    with taken as (
      update notification_deliveries alike set carried_by = $1, lease_until = null, attempts = 0
       where alike.id in (
         select alike.id
           from notification_deliveries carrier
           join notification_deliveries alike on alike.channel_id = carrier.channel_id and alike.status = 'pending'
            and alike.group_key is not null and not ${isCarried('alike')} and alike.id <> carrier.id
            and alike.type = carrier.type
            and case when carrier.type = 'incident.created'
                  then (alike.urgency = 1) = (carrier.urgency = 1) and alike.payload ->> 'source' = carrier.payload ->> 'source'
                    and (carrier.urgency > 1 or alike.group_key = carrier.group_key)
                  else alike.group_key = carrier.group_key end
            and (alike.id = any($2::uuid[])
              or alike.attempts = 0 and (alike.lease_until is null or alike.lease_until <= now()))
            and alike.position = ${firstOf('alike', 'earlier.position')}
          where carrier.id = $1
          order by alike.position limit $3
            for update of alike skip locked)
      returning ${COLUMNS})
    select * from taken
    union all
    select ${COLUMNS} from notification_deliveries alike where alike.carried_by = $1 and alike.status = 'pending'`,
};

const COUNT_ALIKE: Statement = {
  name: 'notification_deliveries_alike',
  text: `
    select count(*)::integer as n from notification_deliveries
     where channel_id = $1 and group_key = $2 and occurred_at > now() - interval '10 minutes'`,
};

const DELIVERED: Statement = {
  name: 'notification_deliveries_carried',
  text: `
    update notification_deliveries set status = 'delivered', ended_at = now(), last_error = null
     where carried_by = $1 and status = 'pending'`,
};

const UNFOLD: Statement = {
  name: 'notification_deliveries_unfold',
  text: `
    with carrier as materialized (
      select id from notification_deliveries where id = $1 and fence = $2 and status = 'pending' for update)
    update notification_deliveries
       set group_key = null, carried_by = null, held_until = null, lease_until = null, due_at = now(), last_error = $3
     where status = 'pending' and (id in (select id from carrier) or carried_by in (select id from carrier))`,
};

/** Which deliveries go in the message of another one. */
@Injectable()
export class DeliveryFoldsRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Takes at most `most` into the message of a carrier that is claimed, in its first attempt also those of `own`, which are
   * claimed with it; returns all that the message has in it.
   */
  async fold(
    tx: Tx,
    { id, attempts }: ClaimedDelivery,
    own: readonly string[],
    most: number,
  ): Promise<Delivery[]> {
    const values = [id, own, attempts === 1 ? most : 0];
    return (await this.statements.rowsIn<DeliveryRow>(tx, FOLD, values)).map(deliveryOf);
  }

  /** Counts the new incidents of a group in the last 10 minutes. */
  async countAlike(tx: Tx, channelId: string, groupKey: string): Promise<number> {
    const rows = await this.statements.rowsIn<{ n: number }>(tx, COUNT_ALIKE, [
      channelId,
      groupKey,
    ]);
    return rows[0]!.n;
  }

  /** Ends what the message of the carrier had in it. */
  async delivered(tx: Tx, { id }: ClaimedDelivery): Promise<void> {
    await this.statements.rowsIn(tx, DELIVERED, [id]);
  }

  /** Makes each of them a message of its own: together they are refused, and each may not be. */
  async unfold(tx: Tx, { id, fence }: ClaimedDelivery, error: string): Promise<void> {
    await this.statements.rowsIn(tx, UNFOLD, [id, fence, error]);
  }
}
