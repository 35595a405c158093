// SQL for what must neither wait nor fail when another transaction was faster: `on conflict`, and locks in one order.
import { Injectable } from '@nestjs/common';
import { DataSource, Equal, In, IsNull, LessThan, Not } from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { WebhookEventEntity, type WebhookSeenEventEntity } from '../events/webhook-event.entity.js';
import type { ReadEvent } from '../reading/read-events.js';
import { type Arrival, type SettledReceipt, statusOf } from './receipt.js';
import { ending, type SettlingProgress } from './settling-progress.js';

/** A wish to be the first who brings an event, and so to make the incident. */
export interface Claim {
  readonly event: ReadEvent;
  readonly incidentId: string;
}

/** What is known of an event that was seen before. */
export type SeenEvent = Pick<
  WebhookSeenEventEntity,
  'event_key' | 'content_hashes' | 'event_id' | 'incident_id'
>;

const CLAIM: Statement = {
  name: 'webhook_seen_events_claim',
  text: `
    insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
    select $1, event_key, array[content_hash], $2, incident_id
      from unnest($3::bytea[], $4::bytea[], $5::uuid[]) as claim (event_key, content_hash, incident_id)
     order by event_key
    on conflict do nothing
    returning incident_id`,
};

const LOCK_SEEN: Statement = {
  name: 'webhook_seen_events_lock',
  text: `
    select event_key, content_hashes, event_id, incident_id from webhook_seen_events
     where source = $1 and event_key = any($2::bytea[]) order by event_key for no key update`,
};

/** Contents remembered per event. More would grow without end where a sender counts something up. */
const MOST_CONTENTS = 100;

const ADD_CONTENT: Statement = {
  name: 'webhook_seen_events_add_content',
  text: `
    update webhook_seen_events
       set content_hashes = (content_hashes || $3::bytea)[greatest(1, cardinality(content_hashes) + 2 - ${MOST_CONTENTS}):]
     where source = $1 and event_key = $2`,
};

/** Of a body that waits already, or that failed before, there is one row: it waits, again. */
const QUEUE: Statement = {
  name: 'webhook_events_queue',
  text: `
    insert into webhook_events (id, source, status, body, body_hash, received_at)
    select distinct on (source, body_hash) id, source, 'queued', body, body_hash, received_at
      from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[])
        as arrived (id, source, body, body_hash, received_at)
     order by source, body_hash
    on conflict (source, body_hash) where status in ('queued', 'failed')
    do update set status = 'queued', error = null, processed_at = null
    returning id, source, body_hash`,
};

const FAIL: Statement = {
  name: 'webhook_events_fail',
  text: `
    insert into webhook_events (id, source, status, body, body_hash, attempts, error, received_at, processed_at)
    values ($1, $2, 'failed', $3, $4, 1, $6, $5, now())
    on conflict (source, body_hash) where status in ('queued', 'failed')
    do update set status = 'failed', error = excluded.error, attempts = webhook_events.attempts + 1, processed_at = now()
    returning id`,
};

@Injectable()
export class InboxRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** The incidents of the claims that are the first. Waits for other transactions that claim the same. */
  async claimAll(
    tx: Tx,
    { id, source }: Arrival,
    claims: readonly Claim[],
  ): Promise<ReadonlySet<string>> {
    const rows = await this.statements.rowsIn<{ incident_id: string }>(tx, CLAIM, [
      source,
      id,
      claims.map(({ event }) => event.key),
      claims.map(({ event }) => event.contentHash),
      claims.map(({ incidentId }) => incidentId),
    ]);
    return new Set(rows.map(({ incident_id }) => incident_id));
  }

  async lockSeen(tx: Tx, source: string, events: readonly ReadEvent[]): Promise<SeenEvent[]> {
    const keys = events.map(({ key }) => key);
    return await this.statements.rowsIn<SeenEvent>(tx, LOCK_SEEN, [source, keys]);
  }

  /** From now on a repetition of this content is a duplicate, too. */
  async addContent(tx: Tx, source: string, { key, contentHash }: ReadEvent): Promise<void> {
    await this.statements.rowsIn(tx, ADD_CONTENT, [source, key, contentHash]);
  }

  /** The first of these receipts that has the same bytes as the arrival. */
  async findSameBytes(
    tx: Tx,
    { bodyHash }: Arrival,
    ids: readonly string[],
  ): Promise<string | undefined> {
    const receipt = await tx.getRepository(WebhookEventEntity).findOne({
      select: { id: true },
      where: { id: In(ids), body_hash: Equal(bodyHash), body: Not(IsNull()) },
      order: { id: 'ASC' },
    });
    return receipt?.id;
  }

  async insertSettled(tx: Tx, settled: SettledReceipt): Promise<void> {
    const { arrival } = settled;
    await tx.getRepository(WebhookEventEntity).insert({
      id: arrival.id,
      source: arrival.source,
      body_hash: arrival.bodyHash,
      received_at: arrival.receivedAt,
      attempts: 1,
      ...outcomeOf(settled),
    });
  }

  /** For what waited in the inbox, or failed there. */
  async updateSettled(tx: Tx, settled: SettledReceipt): Promise<void> {
    const events = tx.getRepository(WebhookEventEntity);
    const attempts = () => 'attempts + 1';
    await events.update({ id: settled.arrival.id }, { ...outcomeOf(settled), attempts });
  }

  /** The rest of the body waits. */
  async keepProgress(tx: Tx, id: string, progress: SettlingProgress): Promise<void> {
    const events = tx.getRepository(WebhookEventEntity);
    await events.update({ id }, { progress, incident_ids: progress.incidentIds });
  }

  /** For a body that was settled in parts. */
  async endProgress(tx: Tx, id: string, progress: SettlingProgress, total: number): Promise<void> {
    const attempts = () => 'attempts + 1';
    const processed_at = () => 'now()';
    const outcome = { ...ending(progress, total), progress: null, attempts, processed_at };
    await tx.getRepository(WebhookEventEntity).update({ id }, outcome);
  }

  /** What failed waits again, from the start of its body. */
  async requeue(tx: Tx, id: string): Promise<void> {
    const again = { status: 'queued', error: null, processed_at: null } as const;
    await tx.getRepository(WebhookEventEntity).update({ id }, again);
  }

  /** The ids under which the bodies wait, in their order. */
  async queue(tx: Tx, arrivals: readonly Arrival[]): Promise<string[]> {
    const rows = await this.statements.rowsIn<Queued>(tx, QUEUE, [
      arrivals.map(({ id }) => id),
      arrivals.map(({ source }) => source),
      arrivals.map(({ body }) => body),
      arrivals.map(({ bodyHash }) => bodyHash),
      arrivals.map(({ receivedAt }) => receivedAt.toISOString()),
    ]);
    const ids = new Map(rows.map(({ id, source, body_hash }) => [nameOf(source, body_hash), id]));
    return arrivals.map(({ source, bodyHash }) => ids.get(nameOf(source, bodyHash))!);
  }

  /** Keeps a body that cannot be read, for the analyst. Answers the id under which it is kept. */
  async keepFailed(tx: Tx, arrival: Arrival, error: string): Promise<string> {
    const { id, source, body, bodyHash, receivedAt } = arrival;
    const values = [id, source, body, bodyHash, receivedAt.toISOString(), error];
    const [row] = await this.statements.rowsIn<{ id: string }>(tx, FAIL, values);
    return row!.id;
  }

  async markFailed(tx: Tx, id: string, error: string): Promise<void> {
    await tx.getRepository(WebhookEventEntity).update(
      { id },
      {
        status: 'failed',
        error,
        progress: null,
        attempts: () => 'attempts + 1',
        processed_at: () => 'now()',
      },
    );
  }

  /** With its body. Waits for whoever works on it. */
  async lock(tx: Tx, id: string): Promise<WebhookEventEntity | undefined> {
    const event = await tx
      .getRepository(WebhookEventEntity)
      .createQueryBuilder('event')
      .addSelect('event.body')
      .where({ id })
      .setLock('pessimistic_write')
      .getOne();
    return event ?? undefined;
  }

  /** Those that have waited longest. */
  async queuedBefore(time: Date, limit: number): Promise<string[]> {
    const events = await this.dataSource.getRepository(WebhookEventEntity).find({
      select: { id: true },
      where: { status: 'queued', received_at: LessThan(time) },
      order: { id: 'ASC' },
      take: limit,
    });
    return events.map(({ id }) => id);
  }
}

type Queued = Pick<WebhookEventEntity, 'id' | 'source' | 'body_hash'>;

function nameOf(source: string, bodyHash: Buffer): string {
  return `${source} ${bodyHash.toString('base64')}`;
}

function outcomeOf({ arrival, events, repeats }: SettledReceipt) {
  return {
    status: statusOf(events),
    // Only what another receipt has is left out: equal events may have come in other bytes, or each in a body of its own.
    body: repeats?.hasBytes ? null : arrival.body,
    incident_ids: [...new Set(events.map(({ incidentId }) => incidentId))],
    duplicate_of: repeats?.id ?? null,
    error: null,
    processed_at: () => 'now()',
  };
}
