// SQL: taking what is alike skips what other replicas have locked, and what follows is conditional on the claim of the carrier.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ApprovalWave, ClaimedDelivery, Delivery } from '../delivery.js';
import { DELIVERY_COLUMNS, deliveryOf, type DeliveryRow } from './delivery-rows.js';
import { isCarried, lineOf } from './delivery-writes.repository.js';

const COLUMNS = DELIVERY_COLUMNS.map((column) => `alike.${column}`).join(', ');

/** It waits, or is claimed with the carrier ($2), and no other message has it. */
const canJoin = (row: string): string => `${row}.status = 'pending' and not ${isCarried(row)}
              and (${row}.id = any($2::uuid[])
                or ${row}.attempts = 0 and (${row}.lease_until is null or ${row}.lease_until <= now()))`;

/**
 * A carrier takes the new incidents of its source that wait, held ones too: critical ones only with a critical one of the same
 * group. Of approvals it takes those that the same playbook asks for. It takes them in its first attempt, so that each attempt
 * has the same message. It takes no delivery that has to wait for an earlier one of its incident, unless that joins, too.
 */
const FOLD: Statement = {
  name: 'notification_deliveries_fold',
  text: `
    with taken as (
      update notification_deliveries alike set carried_by = $1, lease_until = null, attempts = 0
       where alike.id = any(array(
         select alike.id
           from notification_deliveries carrier
           join notification_deliveries alike on alike.channel_id = carrier.channel_id and ${canJoin('alike')}
            and alike.group_key is not null and alike.id <> carrier.id and alike.type = carrier.type
            and case when carrier.type = 'incident.created'
                  then (alike.urgency = 1) = (carrier.urgency = 1) and alike.payload ->> 'source' = carrier.payload ->> 'source'
                    and (carrier.urgency > 1 or alike.group_key = carrier.group_key)
                  else alike.group_key = carrier.group_key end
            and not exists (
              select from notification_deliveries earlier
               where earlier.channel_id = alike.channel_id and ${lineOf('earlier')} = ${lineOf('alike')}
                 and earlier.status = 'pending' and earlier.position < alike.position and earlier.id <> carrier.id
                 and not (earlier.group_key is not distinct from alike.group_key and ${canJoin('earlier')}))
          where carrier.id = $1
          order by alike.position limit $3
            for update of alike skip locked))
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
     where carried_by = any($1::uuid[]) and status = 'pending'`,
};

const DROP: Statement = {
  name: 'notification_deliveries_drop',
  text: `
    update notification_deliveries
       set status = 'delivered', ended_at = now(), lease_until = null, attempts = 0, last_error = $2
     where id = any($1::uuid[])`,
};

/** The approval that an event of an action follows, or the one whose message had that approval in it, with all of its message. */
const WAVES: Statement = {
  name: 'notification_deliveries_waves',
  text: `
    select event.id, carrier.subject_id as first,
           array(select member.subject_id from notification_deliveries member where member.carried_by = carrier.id) as carried
      from notification_deliveries event
      join notification_deliveries asked on asked.channel_id = event.channel_id and asked.incident_id = event.incident_id
       and asked.type = 'action.pending_approval' and asked.subject_id = event.subject_id
      join notification_deliveries carrier on carrier.id = coalesce(asked.carried_by, asked.id)
     where event.id = any($1::uuid[])`,
};

const UNFOLD: Statement = {
  name: 'notification_deliveries_unfold',
  text: `
    with carrier as materialized (
      select id from notification_deliveries where id = $1 and fence = $2 and status = 'pending' for update)
    update notification_deliveries
       set group_key = null, carried_by = null, held_until = null, lease_until = null, due_at = now(), last_error = $3,
           holders = '{}', partial_attempts = 0
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

  /** Ends what the messages of the carriers had in them. */
  async delivered(tx: Tx, carriers: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, DELIVERED, [carriers]);
  }

  /** Ends deliveries that have nothing left to say, without sending them. */
  async drop(tx: Tx, ids: readonly string[], why: string): Promise<void> {
    await this.statements.rowsIn(tx, DROP, [ids, why]);
  }

  /** Finds the approvals that were asked for in one message, by the deliveries of what became of one of them. */
  async wavesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalWave>> {
    const rows = await this.statements.rowsIn<ApprovalWave & { id: string }>(tx, WAVES, [ids]);
    return new Map(rows.map(({ id, first, carried }) => [id, { first, carried }]));
  }

  /** Makes each of them a message of its own: together they are refused, and each may not be. */
  async unfold(tx: Tx, { id, fence }: ClaimedDelivery, error: string): Promise<void> {
    await this.statements.rowsIn(tx, UNFOLD, [id, fence, error]);
  }
}
