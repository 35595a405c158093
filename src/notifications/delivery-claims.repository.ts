// SQL: claims of work in the same statements, and many rows in one statement.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import { shownStart } from '../platform/text.js';
import type { Outcome } from './channel-type.js';
import {
  type Delivery,
  deliveryColumns,
  MAX_ERROR,
  NOTIFICATION,
  workOf,
} from './delivery.entity.js';
import type { Ending } from './delivery-rules.js';

const MAX_CARRIED = 500;
/** Maximum waiting deliveries that a carrier reads, so that a flood does not delay each message. */
const MAX_CANDIDATES = 2_000;
const COLUMNS = deliveryColumns('delivery');

/** A held delivery that is not critical waits while its group grows, so that a wave becomes one message. */
const heldUntil = (row: string) => `
           greatest(${row}.held_until, case when ${row}.group_key is not null and ${row}.payload ->> 'severity' is distinct from 'critical'
             then least(${row}.occurred_at + wave_limit(${row}.type), (
               select max(held_until) from (
                 select later.held_until from notification_deliveries later
                  where later.channel_id = ${row}.channel_id and later.group_key = ${row}.group_key
                    and later.occurred_at > now() - interval '2 minutes' and later.status = 'pending'
                    and later.carried_by is null
                  order by later.occurred_at desc limit 20) as latest)) end)`;

/** Deliveries of claims that this replica still holds, and holds until the end of the transaction. */
const LOAD: Statement = {
  name: 'notification_deliveries_load',
  text: `
    with claimed as materialized (
      select id, ref, line from work
       where id = any($1::bigint[]) and worker is not null and not ready
         and fence = ($2::integer[])[array_position($1::bigint[], id)]
       order by id for no key update)
    select ${COLUMNS}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms,
           case when held_until is not null and attempts = 0 then (
             select extract(epoch from min(case when wanted.held_until is null then now() else ${heldUntil('wanted')} end) - now()) * 1000
               from work later join notification_deliveries wanted on wanted.id = later.ref
              where later.kind = '${NOTIFICATION.name}' and later.line between claimed.line and claimed.line
                and later.id >= claimed.id and later.died_at is null)::float8 end as held_ms,
           exists (select from notification_deliveries other where other.carried_by = delivery.id) as has_carried
      from claimed
     cross join lateral (
       select * from notification_deliveries where id = claimed.ref offset 0) as delivery
     where status = 'pending' and carried_by is null`,
};

const canJoin = (row: string): string => `${row}.carried_by is null and ${row}.attempts = 0`;
const isFree = (work: string): string =>
  `(${work}.worker is null or ${work}.ref = any($2::uuid[]))`;

/**
 * Adds waiting deliveries to the message of a carrier. A carrier of a new incident adds new incidents of its source, including
 * held deliveries. A critical carrier adds only critical incidents of its group. Other carriers add deliveries of their group,
 * such as approvals for one playbook. This happens only in the first attempt, so that each attempt sends the same message. A
 * delivery behind an earlier delivery about its incident is added only with the earlier delivery. The work of carried
 * deliveries stays, so that later events of these incidents wait for the message.
 */
const FOLD: Statement = {
  name: 'notification_deliveries_fold',
  text: `
    with candidate as materialized (
      select waiting.id
        from notification_deliveries carrier
       cross join lateral (
         select * from notification_deliveries pending
          where channel_id = carrier.channel_id and status = 'pending' and type = carrier.type
            and ${canJoin('pending')} and group_key is not null and id <> carrier.id
            and case when carrier.type = 'incident.created'
                then (urgency = 1) = (carrier.urgency = 1) and payload ->> 'source' = carrier.payload ->> 'source'
                  and (carrier.urgency > 1 or group_key = carrier.group_key)
                else group_key = carrier.group_key end
          order by id limit ${MAX_CANDIDATES}) as alike
       cross join lateral (
         select id, line from work
          where kind = '${NOTIFICATION.name}' and ref = alike.id and ${isFree('work')} limit 1) as waiting
       where carrier.id = $1 and carrier.group_key is not null and carrier.attempts = 0
         -- A scalar subquery with the order of an index: a join may read all work for each candidate.
         and (select earlier.id from work earlier
                join notification_deliveries other on other.id = earlier.ref
               where earlier.kind = '${NOTIFICATION.name}' and earlier.line between waiting.line and waiting.line
                 and earlier.died_at is null and earlier.id < waiting.id and earlier.ref <> carrier.id
                 and not (other.group_key is not distinct from alike.group_key and ${canJoin('other')} and ${isFree('earlier')})
               order by earlier.line, earlier.id limit 1) is null
       order by alike.id limit $3),
    free as materialized (
      select id as work, ref from work
       where id = any(array(select id from candidate)) and ${isFree('work')}
       order by id for no key update skip locked),
    taken as materialized (
      select id from notification_deliveries alike
       where id = any(array(select ref from free)) and status = 'pending' and ${canJoin('alike')}
       order by id for no key update skip locked),
    begun as (
      update notification_deliveries set attempts = 1 where id = $1 and group_key is not null and attempts = 0),
    parked as (
      update work set ready = false, worker = null, fence = fence + 1, attempts = 0, due_at = 'infinity'
       where id = any(array(select work from free join taken on taken.id = free.ref))),
    joined as (
      update notification_deliveries delivery set carried_by = $1
       where id = any(array(select id from taken)) returning ${COLUMNS})
    select * from joined
    union all
    select ${COLUMNS} from notification_deliveries delivery where carried_by = $1 and status = 'pending'`,
};

/** The carrier and the carried deliveries of the message that requested the approval of the event's action. */
const WAVES: Statement = {
  name: 'notification_deliveries_waves',
  text: `
    select event.id, carrier.subject_id || array(
             select member.subject_id from notification_deliveries member where member.carried_by = carrier.id) as wave
      from notification_deliveries event
      join notification_deliveries asked on asked.channel_id = event.channel_id and asked.incident_id = event.incident_id
       and asked.type = 'action.pending_approval' and asked.subject_id = event.subject_id
      join notification_deliveries carrier on carrier.id = coalesce(asked.carried_by, asked.id)
     where event.id = any($1::uuid[])`,
};

/** Clears the recipients when a delivery ends, so that a later redelivery goes to all recipients. */
export const NO_HOLDERS = `holders = '{}', partial_attempts = 0`;

/** Locks all rows of work that an end removes, in the order of the ids: see the statement that adds work. */
const LOCK: Statement = {
  name: 'notification_deliveries_lock',
  text: `
    select from work where kind = '${NOTIFICATION.name}' and ref = any($1::uuid[]) order by id for update`,
};

/** Excludes a delivery that was redelivered since, because the message of its carrier no longer contains it. */
const END: Statement = {
  name: 'notification_deliveries_end',
  text: `
    update notification_deliveries delivery
       set status = ended.status, ended_at = now(), last_error = ended.error, attempts = ended.attempts, ${NO_HOLDERS}
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::integer[])
           as ended (id, carrier, status, error, attempts)
     where delivery.id = any($1::uuid[]) and delivery.id = ended.id and delivery.status = 'pending'
       and delivery.carried_by is not distinct from ended.carrier
    returning delivery.id, delivery.carried_by`,
};

const UNFOLD: Statement = {
  name: 'notification_deliveries_unfold',
  text: `
    update notification_deliveries delivery
       set group_key = null, carried_by = null, held_until = null, last_error = $2, ${NO_HOLDERS}
     where (id = $1 or carried_by = $1) and status = 'pending' returning ${COLUMNS}`,
};

const AGAIN: Statement = {
  name: 'notification_deliveries_again',
  text: `
    update notification_deliveries
       set last_error = $2, holders = coalesce($3::text[], holders),
           partial_attempts = partial_attempts + case when $3::text[] is null then 0 else 1 end
     where id = $1 and status = 'pending'`,
};

export interface FoldedDelivery {
  readonly delivery: Delivery & Pick<LoadedDelivery, 'left_ms'>;
  readonly carried: readonly Delivery[];
}

export interface Held {
  readonly heldMs: number;
}

interface LoadedDelivery extends Delivery {
  readonly left_ms: number;
  readonly held_ms: number | null;
  readonly has_carried: boolean;
}

export interface EndedAttempt extends FoldedDelivery {
  readonly outcome: Outcome;
  readonly ending: Ending;
}

type Claim = Pick<Claimed, 'id' | 'fence'>;

@Injectable()
export class DeliveryClaimsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {}

  async messages(
    tx: Tx,
    claims: readonly Claim[],
  ): Promise<ReadonlyMap<string, FoldedDelivery | Held>> {
    const messages = new Map<string, FoldedDelivery | Held>();
    const waiting = new Map<string, LoadedDelivery>();
    for (const row of await this.load(tx, claims)) {
      if (row.held_ms !== null && row.held_ms > 0) messages.set(row.id, { heldMs: row.held_ms });
      else waiting.set(row.id, row);
    }
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

  async load(tx: Tx, claims: readonly Claim[]): Promise<LoadedDelivery[]> {
    const values = [claims.map(({ id }) => id), claims.map(({ fence }) => fence)];
    return await this.statements.rowsIn(tx, LOAD, values);
  }

  /** Returns all deliveries that the message carries. This replica has claimed those in `own`. */
  async fold(tx: Tx, id: string, own: readonly string[]): Promise<Delivery[]> {
    return await this.statements.rowsIn(tx, FOLD, [id, own, MAX_CARRIED]);
  }

  /** Returns the approvals of one message, the carrier first, by the ids of later deliveries about these approvals. */
  async wavesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    if (ids.length === 0) return new Map();
    const rows = await this.statements.rowsIn<{ id: string; wave: string[] }>(tx, WAVES, [ids]);
    return new Map(rows.map(({ id, wave }) => [id, wave]));
  }

  /** Ends deliveries without sending their message, and removes their work. */
  async drop(tx: Tx, dropped: readonly FoldedDelivery[], error: string): Promise<void> {
    const rows = dropped.flatMap(membersOf);
    if (rows.length === 0) return;
    const ended = { status: 'delivered', attempts: 0, last_error: error } as const;
    await this.end(
      tx,
      rows.map((row) => ({ ...row, ...ended })),
    );
    await this.work.cancel(
      tx,
      NOTIFICATION,
      rows.map(({ id }) => id),
    );
  }

  /** Stores the results of attempts. The work of the carriers ends later in the transaction. */
  async write(tx: Tx, attempts: readonly EndedAttempt[]): Promise<void> {
    if (attempts.some(({ carried }) => carried.length > 0)) {
      const ids = attempts.flatMap(membersOf).map(({ id }) => id);
      await this.statements.rowsIn(tx, LOCK, [ids]);
    }
    const ended: Delivery[] = [];
    for (const { delivery, carried, ending, outcome } of attempts) {
      const { id } = delivery;
      const last_error = ending.error === undefined ? null : shownStart(ending.error, MAX_ERROR);
      if (ending.kind === 'unfolded') {
        // Only one of the deliveries may cause the failure.
        const rows = await this.statements.rowsIn<Delivery>(tx, UNFOLD, [id, last_error]);
        await this.work.add(tx, NOTIFICATION, ...rows.filter((row) => row.id !== id).map(workOf));
      } else if (ending.kind === 'again') {
        const holders = outcome.kind === 'failed' ? outcome.holders : undefined;
        await this.statements.rowsIn(tx, AGAIN, [id, last_error, holders ?? null]);
      } else {
        ended.push({ ...delivery, status: ending.kind, last_error });
        // The message has arrived, even if it is dead because one of several recipients rejected it.
        for (const row of carried) {
          ended.push({ ...row, status: 'delivered', attempts: 0, last_error: null });
        }
      }
    }
    const rows = await this.end(tx, ended);
    const arrived = rows.flatMap(({ id, carried_by }) => (carried_by === null ? [] : [id]));
    await this.work.cancel(tx, NOTIFICATION, arrived);
  }

  private async end(
    tx: Tx,
    ended: readonly Delivery[],
  ): Promise<Pick<Delivery, 'id' | 'carried_by'>[]> {
    if (ended.length === 0) return [];
    return await this.statements.rowsIn(tx, END, [
      ended.map(({ id }) => id),
      ended.map(({ carried_by }) => carried_by),
      ended.map(({ status }) => status),
      ended.map(({ last_error }) => last_error),
      ended.map(({ attempts }) => attempts),
    ]);
  }
}

const membersOf = ({ delivery, carried }: FoldedDelivery): Delivery[] => [delivery, ...carried];
