// SQL: one statement reads the chain, its entries and its head, so that the next cursor is exact.
import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Statements } from '../../platform/database/statements.js';
import { AppError, UnavailableError, ValidationError } from '../../platform/errors/app-error.js';
import { Draining } from '../../platform/http/listening.js';
import type { AuditAction } from '../audit-entry.js';
import { GENESIS, hex, type SealedPoint } from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { AuditTrail } from '../chain/audit-trail.js';
import type { ChangesQueryDto } from './feed-api.js';

/** Interval between two reads of a waiting request. The request holds no connection between the reads. */
const LOOK_MS = 500;
const CURSOR_DAYS = 30;
const CURSOR_MS = CURSOR_DAYS * 86_400_000;

interface Position {
  readonly seen: SealedPoint;
  /** Id of the last existing item that the caller has read; null before the first item, `undefined` after the last. */
  readonly listedTo?: string | null;
}

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Format of a cursor. Increase the first number if the meaning of the fields changes. */
const CURSOR = new RegExp(
  String.raw`^2 (?<feed>\w+) (?<issuedAt>\d{1,15}) (?<restore>${ID})? (?<seq>\d{1,18}) (?<hash>[0-9a-f]{64})` +
    String.raw`(?<list> list (?<listedTo>${ID})?)?$`,
);

interface RecordedChange {
  readonly change_id: string;
  readonly at: Date;
  readonly by: string;
  readonly event: string;
  readonly subject_id: string;
  readonly changed: readonly string[] | null;
}

/** The statement has no name, so that PostgreSQL plans it for the current table size. */
const READ = {
  name: '',
  text: `
    select chain.seq as head_seq, chain.hash as head_hash, page.*
      from audit_chain chain left join lateral (
        select s.seq, s.hash, log.id as change_id, log.at, log.actor as by, log.action as event, log.subject_id,
               log.details->'changed' as changed
          from audit_seals s join audit_log log on log.id = s.audit_id
         where s.seq > $1 and log.action = any($2::text[])
         order by s.seq limit $3::integer) page on true
     order by page.seq`,
};

type ReadRow = { readonly head_seq: string; readonly head_hash: Buffer } & (
  (RecordedChange & { readonly seq: string; readonly hash: Buffer }) | { readonly change_id: null }
);

interface FeedSource<T extends Item> {
  readonly type: 'action' | 'incident';
  readonly events: readonly AuditAction[];
  /** Lists existing items with an id above `id`, by id. The keys of the map are the subject ids in audit entries. */
  listAfter(id: string | null, limit: number): Promise<ReadonlyMap<string, T>>;
  findBySubject(ids: readonly string[]): Promise<ReadonlyMap<string, T>>;
}

interface Item {
  readonly id: string;
  readonly updated_at: Date;
}

/** A change, or an item that existed when the feed began. An existing item has neither `change_id` nor `by`. */
type FeedEntry<T> = Pick<RecordedChange, 'event' | 'at' | 'subject_id'> &
  Partial<RecordedChange> & {
    readonly item?: T;
  };

export interface FeedPage<T> {
  readonly changes: readonly FeedEntry<T>[];
  readonly cursor: string;
  readonly has_more: boolean;
}

interface Step<T> extends Omit<FeedPage<T>, 'cursor'> {
  readonly next: Position;
}

/** Returns every change at least once. Entries are sealed after their commit, so a reader misses none (ADR 0047). */
@Injectable()
export class ChangeFeed {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly chain: AuditChainRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly draining: Draining,
  ) {}

  /** @param left aborted when the client disconnects */
  async page<T extends Item>(
    source: FeedSource<T>,
    query: ChangesQueryDto,
    caller: { requireStillValid(): Promise<void> },
    left: AbortSignal,
  ): Promise<FeedPage<T>> {
    // Seals first, so that the page contains all changes before the request.
    await this.trail.seal();
    const restore = (await this.chain.lastAcceptance(this.dataSource.manager))?.id;
    let position = await this.begin(source.type, query, restore);
    const end = performance.now() + query.wait * 1_000;
    for (;;) {
      if (this.trail.broken !== undefined) throw new UnavailableError(this.trail.broken);
      const { next, ...found } = await this.read(source, position, query.limit);
      position = next;
      const leftMs = end - performance.now();
      const isOver = (!found.has_more && leftMs <= 0) || left.aborted || this.draining.begun;
      if (found.changes.length > 0 || isOver) {
        return { ...found, cursor: this.cursorText(source.type, restore, position) };
      }
      if (found.has_more) continue;
      await sleep(Math.min(LOOK_MS, leftMs));
      await caller.requireStillValid();
    }
  }

  async read<T extends Item>(
    source: FeedSource<T>,
    { seen, listedTo }: Position,
    limit: number,
  ): Promise<Step<T>> {
    if (listedTo !== undefined) return await list(source, seen, listedTo, limit);
    const values = [seen.seq, source.events, limit];
    const rows = await this.statements.rows<ReadRow>(READ, values);
    const changes = rows.filter((row) => row.change_id !== null);
    const ids = new Set(changes.map(({ subject_id }) => subject_id));
    const items = ids.size > 0 ? await source.findBySubject([...ids]) : new Map<string, T>();
    // The cursor of a full page is its last change. The cursor of any other page is the head.
    const last = changes.length === limit ? changes.at(-1) : undefined;
    const [{ head_seq, head_hash } = { head_seq: seen.seq, head_hash: seen.hash }] = rows;
    const { seq, hash } = last ?? { seq: head_seq, hash: head_hash };
    return {
      changes: changes.map((change) => ({ ...change, item: items.get(change.subject_id) })),
      next: { seen: { seq: BigInt(seq), hash } },
      has_more: last !== undefined,
    };
  }

  /** Throws if the cursor is too old or belongs to another feed, or if changes after the cursor may be missing. */
  private async begin(
    type: string,
    { cursor, from }: ChangesQueryDto,
    restore: string | undefined,
  ): Promise<Position> {
    const { manager } = this.dataSource;
    if (cursor === undefined) {
      const { seq, hash } = (await this.chain.readHead(manager)) ?? GENESIS;
      return { seen: { seq, hash }, listedTo: from === 'beginning' ? null : undefined };
    }
    const fields = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.groups;
    if (fields?.['feed'] !== type) {
      throw ValidationError.of('cursor', 'matches', 'cursor must be a cursor of this feed.');
    }
    if (this.clock.now().getTime() - Number(fields['issuedAt']) > CURSOR_MS) {
      throw expired('too_old', `The cursor is older than ${CURSOR_DAYS} days.`);
    }
    const seen = { seq: BigInt(fields['seq']!), hash: Buffer.from(fields['hash']!, 'hex') };
    if (fields['restore'] !== restore || !(await this.chain.containsSeal(manager, seen))) {
      throw expired('database_restored', 'The database was restored after the cursor was issued.');
    }
    return { seen, listedTo: fields['list'] && (fields['listedTo'] ?? null) };
  }

  private cursorText(
    type: string,
    restore: string | undefined,
    { seen: { seq, hash }, listedTo }: Position,
  ): string {
    const fields = [2, type, this.clock.now().getTime(), restore, seq, hex(hash)];
    const place = listedTo === undefined ? [] : ['list', listedTo];
    return Buffer.from([...fields, ...place].join(' ')).toString('base64url');
  }
}

async function list<T extends Item>(
  source: FeedSource<T>,
  seen: SealedPoint,
  listedTo: string | null,
  limit: number,
): Promise<Step<T>> {
  const items = [...(await source.listAfter(listedTo, limit))];
  const last = items.length === limit ? items.at(-1)?.[1] : undefined;
  return {
    changes: items.map(([subject_id, item]) => {
      return { event: `${source.type}.listed`, subject_id, at: item.updated_at, item };
    }),
    next: { seen, listedTo: last?.id },
    has_more: true,
  };
}

function expired(reason: 'too_old' | 'database_restored', message: string): AppError {
  return new AppError('cursor_expired', `${message} Start again with from=beginning.`, {
    details: { reason },
  });
}
