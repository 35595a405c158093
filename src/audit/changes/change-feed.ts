// SQL: PostgreSQL snapshots and transaction ids, by which a feed finds newly committed audit rows.
import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import { Statements } from '../../platform/database/statements.js';
import { Draining } from '../../platform/http/draining.js';
import { firstIdAt, timeOfId } from '../../platform/ids.js';
import { type AuditAction, HEAD_ACCEPTED } from '../audit-entry.js';
import { BEFORE_ALL, type Cursor } from '../chain/audit-chain.js';
import { newlyVisible } from '../chain/audit-chain.repository.js';
import {
  cursorFrom,
  cursorText,
  type Position,
  type Present,
  requireUsable,
} from './change-cursor.js';
import type { ChangesQueryDto } from './feed-api.js';

/** Interval between two reads of a waiting request. It holds no connection in between. */
const LOOK_MS = 500;
/** Maximum number of reads without a change, which bounds the work for an old cursor. */
const MOST_EMPTY_READS = 50;

/** Audit rows that one statement reads: about 10 ms. */
const MOST_SCANNED = 2_000;

/** Tolerated clock difference between replicas: no change is lost after a restore. */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** A change as its audit row records it. */
interface RecordedChange {
  readonly change_id: string;
  readonly at: Date;
  readonly by: string;
  readonly event: string;
  readonly subject_id: string;
  /** Names of the changed fields; null if the row has none. */
  readonly changed: readonly string[] | null;
}

const PRESENT = {
  name: 'audit_changes_present',
  text: `
    select (select system_identifier::text from pg_control_system()) as cluster,
           (select id from audit_log where action = '${HEAD_ACCEPTED}' order by id desc limit 1) as restore,
           pg_current_snapshot()::text as snapshot`,
};

/** Without a name, so that PostgreSQL plans it for the current table size. */
const READ = {
  name: '',
  text: `
    with goal as materialized (select coalesce($2::pg_snapshot, pg_current_snapshot()) as until),
    scanned as materialized (${newlyVisible('action', '(select until from goal)', MOST_SCANNED)}),
    tail as (select xid, id from scanned order by xid, id offset ${MOST_SCANNED - 1} limit 1),
    page as (
      select id, xid from scanned where action = any($5::text[]) and id >= $6::uuid
       order by xid, id limit $7::integer)
    select goal.until::text, tail.xid::text as tail_xid, tail.id as tail_id, page.xid::text as xid,
           log.id as change_id, log.at, log.actor as by, log.action as event, log.subject_id,
           log.details->'changed' as changed
      from goal left join tail on true left join page on true left join audit_log log on log.id = page.id
     order by page.xid, page.id`,
};

type FoundRow = RecordedChange & Pick<Cursor, 'xid'>;

/** `change_id` is null if nothing was found. */
type ReadRow = {
  readonly until: string;
  readonly tail_xid: string;
  readonly tail_id: string | null;
} & (FoundRow | { readonly change_id: null });

@Injectable()
export class RecordedChanges {
  constructor(private readonly statements: Statements) {}

  async present(): Promise<Present> {
    const [row] = await this.statements.rows<Present>(PRESENT);
    return row!;
  }

  /**
   * Returns at most `limit` changes after the position, up to the snapshot `upTo` or now. `next` has a page if there may be more.
   */
  async read(
    { seen, page }: Position,
    { restore }: Present,
    actions: readonly string[],
    limit: number,
    upTo?: string,
  ): Promise<{ changes: RecordedChange[]; next: Position }> {
    const { xid, id } = page?.after ?? BEFORE_ALL;
    const rows = await this.statements.rows<ReadRow>(READ, [
      seen,
      page?.until ?? upTo ?? null,
      ...[xid, id, actions, firstIdSince(restore), limit],
    ]);
    const changes = rows.filter((row) => row.change_id !== null);
    const { until } = rows[0]!;
    const after = lastRead(rows, changes, limit);
    return { changes, next: after ? { seen, page: { until, after } } : { seen: until } };
  }
}

/** Rows of a backup keep the transaction ids of their first cluster, which the current cluster may use again. */
function firstIdSince(restore: string | null): string {
  return firstIdAt(restore === null ? 0 : timeOfId(restore) - CLOCK_TOLERANCE_MS);
}

/** `undefined` if all rows up to the goal were read. */
function lastRead(
  [first]: readonly ReadRow[],
  found: readonly FoundRow[],
  limit: number,
): Cursor | undefined {
  const last = found.at(-1);
  if (last && found.length === limit) return { xid: last.xid, id: last.change_id };
  return first?.tail_id ? { xid: first.tail_xid, id: first.tail_id } : undefined;
}

/** Source of a feed: the changes of one kind of resource. */
interface FeedSource<T extends Item> {
  readonly type: 'action' | 'incident';
  /** Audit actions that change the resource. */
  readonly events: readonly AuditAction[];
  /** Existing items with an id above `id`, in the order of their ids, by the subject ids of their audit entries. */
  listAfter(id: string | null, limit: number): Promise<ReadonlyMap<string, T>>;
  /** Current items by the subject ids of their audit entries. */
  findBySubject(ids: readonly string[]): Promise<ReadonlyMap<string, T>>;
}

interface Item {
  readonly id: string;
  readonly updated_at: Date;
}

/** Rejects if the credential of the caller has ended while the request waited. */
interface FeedCaller {
  requireStillValid(): Promise<void>;
}

/** A change, or an item that existed when the feed began, which has neither `change_id` nor `by`. */
interface FeedEntry<T>
  extends
    Pick<RecordedChange, 'event' | 'at' | 'subject_id'>,
    Partial<Pick<RecordedChange, 'change_id' | 'by' | 'changed'>> {
  /** Current item; `undefined` if it was deleted. */
  readonly item?: T;
}

export interface FeedPage<T> {
  readonly changes: readonly FeedEntry<T>[];
  readonly cursor: string;
  /** There may be more changes, so the next request need not wait. */
  readonly has_more: boolean;
}

/** One look at the database for all requests that wait. */
interface Look {
  /** All of them read up to here, so that from then on their positions are equal. */
  readonly snapshot: string;
  readonly steps: Map<string, Promise<Step<unknown>>>;
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
  private nextLook: Promise<Look> | undefined;

  constructor(
    private readonly recorded: RecordedChanges,
    private readonly clock: Clock,
    private readonly draining: Draining,
  ) {}

  /** @param left aborted when the client disconnects */
  async page<T extends Item>(
    source: FeedSource<T>,
    query: ChangesQueryDto,
    caller: FeedCaller,
    left: AbortSignal,
  ): Promise<FeedPage<T>> {
    const present = await this.recorded.present();
    let position = this.begin(source, query, present);
    const end = performance.now() + query.wait * 1_000;
    let look: Look | undefined;
    for (let emptyReads = 1; ; emptyReads += 1) {
      const { next, changes, has_more } = await this.stepAt(
        look,
        source,
        present,
        position,
        query.limit,
      );
      position = next;
      const leftMs = end - performance.now();
      const isDone = has_more ? emptyReads >= MOST_EMPTY_READS : leftMs <= 0;
      const isOver = left.aborted || this.draining.begun;
      if (changes.length > 0 || isDone || isOver) {
        const { cluster, restore } = present;
        const issuedAt = this.clock.now().getTime();
        const cursor = cursorText({ feed: feedOf(source), issuedAt, cluster, restore, position });
        return { changes, cursor, has_more };
      }
      if (!has_more) {
        emptyReads = 0;
        // The last read of a request does not wait for the common look.
        look = leftMs > LOOK_MS ? await this.lookLater() : await sleep(leftMs);
        await caller.requireStillValid();
      } else look = undefined;
    }
  }

  private lookLater(): Promise<Look> {
    this.nextLook ??= sleep(LOOK_MS).then(async () => {
      this.nextLook = undefined;
      const { snapshot } = await this.recorded.present();
      return { snapshot, steps: new Map() };
    });
    return this.nextLook;
  }

  /** Requests that wait at the same position of the same feed share one read in each look. */
  private async stepAt<T extends Item>(
    look: Look | undefined,
    source: FeedSource<T>,
    present: Present,
    position: Position,
    limit: number,
  ): Promise<Step<T>> {
    if (!look || position.listedTo !== undefined || position.page) {
      return await this.read(source, present, position, limit);
    }
    const key = JSON.stringify([source.type, present.restore, position.seen, limit]);
    const known = look.steps.get(key) as Promise<Step<T>> | undefined;
    if (known) return await known;
    const step = this.read(source, present, position, limit, look.snapshot);
    look.steps.set(key, step);
    return await step;
  }

  private begin(
    source: Pick<FeedSource<Item>, 'type'>,
    { cursor: text, from }: ChangesQueryDto,
    present: Present,
  ): Position {
    if (text === undefined) {
      return { seen: present.snapshot, listedTo: from === 'beginning' ? null : undefined };
    }
    const cursor = cursorFrom(feedOf(source), text);
    requireUsable(cursor, present, this.clock.now());
    return cursor.position;
  }

  private async read<T extends Item>(
    source: FeedSource<T>,
    present: Present,
    position: Position,
    limit: number,
    until?: string,
  ): Promise<Step<T>> {
    if (position.listedTo !== undefined) return await list(source, position, limit);
    const { events } = source;
    const { changes, next } = await this.recorded.read(position, present, events, limit, until);
    const ids = new Set(changes.map(({ subject_id }) => subject_id));
    const items = ids.size > 0 ? await source.findBySubject([...ids]) : new Map<string, T>();
    return {
      changes: changes.map((change) => ({ ...change, item: items.get(change.subject_id) })),
      next,
      has_more: next.page !== undefined,
    };
  }
}

/** Name of the feed in its cursors. */
const feedOf = ({ type }: Pick<FeedSource<Item>, 'type'>) => `${type}s`;

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
    // The changes since the beginning of the list come next.
    has_more: true,
  };
}
