// SQL: PostgreSQL snapshots and transaction ids, by which a feed finds newly committed audit rows.
import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import { SQLSTATE, sqlStateOf } from '../../platform/database/sqlstate.js';
import { Statements } from '../../platform/database/statements.js';
import { AppError, ValidationError } from '../../platform/errors/app-error.js';
import { Draining } from '../../platform/http/listening.js';
import { firstIdAt, timeOfId } from '../../platform/ids.js';
import { type AuditAction, HEAD_ACCEPTED } from '../audit-entry.js';
import { snapshotEnd } from '../chain/audit-chain.js';
import type { ChangesQueryDto } from './feed-api.js';

/** Interval between two reads of a waiting request, which holds no connection between the reads. */
const LOOK_MS = 500;
/** Tolerated clock difference between replicas, so that no change is lost after a restore. */
const CLOCK_TOLERANCE_MS = 3_600_000;
const CURSOR_DAYS = 30;
const CURSOR_MS = CURSOR_DAYS * 86_400_000;

interface Cursor {
  readonly xid: string;
  readonly id: string;
}

/** Position in the changes that the snapshot `seen` does not see. */
interface Position {
  readonly seen: string;
  /** Last item that was read of the list of existing items, which comes before the changes; null at the beginning. */
  readonly listedTo?: string | null;
  /** Last change that was read, of the changes that the snapshot `until` sees. */
  readonly page?: { readonly until: string; readonly after: Cursor };
}

/** State of the database. Transaction ids and snapshots are valid only in one cluster and until a restore. */
interface Present {
  readonly cluster: string;
  readonly restore: string | null;
  readonly snapshot: string;
}

const SNAPSHOT = String.raw`\d{1,19}:\d{1,19}:[\d,]*`;
const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Text of a cursor. The first number increases if the meaning of the fields changes. */
const CURSOR = new RegExp(
  String.raw`^1 (?<feed>\w+) (?<issuedAt>\d{1,15}) (?<cluster>\d+) (?<restore>${ID})? (?<seen>${SNAPSHOT})` +
    String.raw` (?:(?<list>list) (?<listedTo>${ID})?|changes(?: (?<until>${SNAPSHOT}) (?<xid>\d{1,19}) (?<id>${ID}))?)$`,
);

interface RecordedChange {
  readonly xid: string;
  readonly change_id: string;
  readonly at: Date;
  readonly by: string;
  readonly event: string;
  readonly subject_id: string;
  readonly changed: readonly string[] | null;
}

const PRESENT = {
  name: 'audit_changes_present',
  text: `
    select (select system_identifier::text from pg_control_system()) as cluster,
           (select id from audit_log where action = '${HEAD_ACCEPTED}' order by id desc limit 1) as restore,
           pg_current_snapshot()::text as snapshot`,
};

/**
 * Selects rows after the position `$3`, `$4` that the goal sees and the snapshot `$1` does not. A snapshot does not see
 * transactions from its xmax on, nor transactions that were running. The former are the end of the index, the latter are
 * a few points in the index, so a transaction that stays open for hours costs nothing.
 */
const scan = (condition: string) => `
  select id, xid from audit_log
  where ${condition} and pg_visible_in_snapshot(xid, (select until from goal)) and (xid, id) > ($3::xid8, $4::uuid)
    and action = any($5::text[]) and id >= $6::uuid
  order by xid, id limit $7::integer`;
const LATER =
  'xid >= pg_snapshot_xmax($1::pg_snapshot) and xid < pg_snapshot_xmax((select until from goal))';
const RUNNING = 'xid = any (array(select pg_snapshot_xip($1::pg_snapshot)))';

/** Has no name, so that PostgreSQL plans the statement for the current table size. */
const READ = {
  name: '',
  text: `
    with goal as materialized (select coalesce($2::pg_snapshot, pg_current_snapshot()) as until),
    page as materialized ((${scan(LATER)}) union all (${scan(RUNNING)}) order by 2, 1 limit $7::integer)
    select goal.until::text, page.xid::text as xid, log.id as change_id, log.at, log.actor as by,
           log.action as event, log.subject_id, log.details->'changed' as changed
      from goal left join page on true left join audit_log log on log.id = page.id
     order by page.xid, page.id`,
};

type ReadRow = { readonly until: string } & (RecordedChange | { readonly change_id: null });

interface FeedSource<T extends Item> {
  readonly type: 'action' | 'incident';
  readonly events: readonly AuditAction[];
  /** Lists existing items with an id above `id`, in the order of their ids, by the subject ids of their audit entries. */
  listAfter(id: string | null, limit: number): Promise<ReadonlyMap<string, T>>;
  /** Returns current items by the subject ids of their audit entries. */
  findBySubject(ids: readonly string[]): Promise<ReadonlyMap<string, T>>;
}

interface Item {
  readonly id: string;
  readonly updated_at: Date;
}

/** Change, or an item that existed when the feed began. Such an item has neither `change_id` nor `by`. */
type FeedEntry<T> = Pick<RecordedChange, 'event' | 'at' | 'subject_id'> &
  Partial<RecordedChange> & {
    readonly item?: T;
  };

export interface FeedPage<T> {
  readonly changes: readonly FeedEntry<T>[];
  readonly cursor: string;
  /** True if there may be more changes, so that the next request does not wait. */
  readonly has_more: boolean;
}

interface Step<T> extends Omit<FeedPage<T>, 'cursor'> {
  readonly next: Position;
}

/**
 * Returns every change at least once, in the order in which the changes became visible. The order comes from PostgreSQL
 * snapshots, because times are taken before the commit (ADR 0047).
 */
@Injectable()
export class ChangeFeed {
  constructor(
    private readonly statements: Statements,
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
    const [present] = (await this.statements.rows<Present>(PRESENT)) as [Present];
    const now = this.clock.now().getTime();
    let position = begin(source.type, query, present, now);
    const end = performance.now() + query.wait * 1_000;
    for (;;) {
      const { next, ...found } = await this.read(source, present, position, query.limit);
      position = next;
      const leftMs = end - performance.now();
      const isOver = (!found.has_more && leftMs <= 0) || left.aborted || this.draining.begun;
      if (found.changes.length > 0 || isOver) {
        const issuedAt = this.clock.now().getTime();
        return { ...found, cursor: cursorText(source.type, issuedAt, present, position) };
      }
      if (found.has_more) continue;
      await sleep(Math.min(LOOK_MS, leftMs));
      await caller.requireStillValid();
    }
  }

  async read<T extends Item>(
    source: FeedSource<T>,
    { restore }: Present,
    position: Position,
    limit: number,
  ): Promise<Step<T>> {
    if (position.listedTo !== undefined) return await list(source, position, limit);
    const { seen, page } = position;
    const { xid, id } = page?.after ?? { xid: '0', id: firstIdAt(0) };
    // Rows of a backup contain transaction ids of their first cluster, and the current cluster may use the same ids.
    const firstId = firstIdAt(restore === null ? 0 : timeOfId(restore) - CLOCK_TOLERANCE_MS);
    const values = [seen, page?.until, xid, id, source.events, firstId, limit];
    const rows = await this.statements.rows<ReadRow>(READ, values).catch((error: unknown) => {
      throw sqlStateOf(error) === SQLSTATE.invalidText ? invalidCursor() : error;
    });
    const changes = rows.filter((row) => row.change_id !== null);
    const { until } = rows[0]!;
    // A full page ends at its last change, other pages at the goal.
    const last = changes.length === limit ? changes.at(-1) : undefined;
    const after = last && { xid: last.xid, id: last.change_id };
    const ids = new Set(changes.map(({ subject_id }) => subject_id));
    const items = ids.size > 0 ? await source.findBySubject([...ids]) : new Map<string, T>();
    return {
      changes: changes.map((change) => ({ ...change, item: items.get(change.subject_id) })),
      next: after ? { seen, page: { until, after } } : { seen: until },
      has_more: after !== undefined,
    };
  }
}

async function list<T extends Item>(
  source: FeedSource<T>,
  { seen, listedTo = null }: Position,
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

function cursorText(
  type: string,
  issuedAt: number,
  { cluster, restore }: Present,
  { seen, listedTo, page }: Position,
): string {
  const changes = page ? ['changes', page.until, page.after.xid, page.after.id] : ['changes'];
  const place = listedTo === undefined ? changes : ['list', listedTo];
  const fields = [1, type, issuedAt, cluster, restore, seen, ...place];
  return Buffer.from(fields.join(' ')).toString('base64url');
}

/** Throws if the cursor belongs to another feed, or if changes after the cursor may be missing. */
function begin(
  type: string,
  { cursor, from }: ChangesQueryDto,
  present: Present,
  now: number,
): Position {
  if (cursor === undefined) {
    return { seen: present.snapshot, listedTo: from === 'beginning' ? null : undefined };
  }
  const fields = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.groups;
  if (fields?.['feed'] !== type) throw invalidCursor();
  const { issuedAt, cluster, restore = null, seen, list, listedTo = null, until, xid, id } = fields;
  if (now - Number(issuedAt) > CURSOR_MS) {
    throw expired('too_old', `The cursor is older than ${CURSOR_DAYS} days.`);
  }
  // After a recovery to an earlier time, the cursor is ahead of the database.
  const isAhead = snapshotEnd(until ?? seen!) > snapshotEnd(present.snapshot);
  if (cluster !== present.cluster || restore !== present.restore || isAhead) {
    throw expired('database_restored', 'The database was restored after the cursor was issued.');
  }
  if (list !== undefined) return { seen: seen!, listedTo };
  return { seen: seen!, page: until ? { until, after: { xid: xid!, id: id! } } : undefined };
}

function invalidCursor(): AppError {
  return ValidationError.of('cursor', 'matches', 'cursor must be a cursor of this feed.');
}

function expired(reason: 'too_old' | 'database_restored', message: string): AppError {
  return new AppError('cursor_expired', `${message} Start again with from=beginning.`, {
    details: { reason },
  });
}
