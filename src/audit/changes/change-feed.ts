import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import { Draining } from '../../platform/http/draining.js';
import type { AuditAction } from '../audit-entry.js';
import {
  type ChangeCursor,
  cursorFrom,
  cursorText,
  isListing,
  type Position,
  requireUsable,
} from './change-cursor.js';
import {
  type Present,
  type RecordedChange,
  RecordedChangesRepository,
} from './recorded-changes.repository.js';

/** Interval between two reads of a waiting request. It holds no connection in between. */
const LOOK_MS = 500;
/** Maximum number of reads without a change, which bounds the work for an old cursor. */
const MOST_EMPTY_READS = 50;

/** Source of a feed: the changes of one kind of resource. */
interface FeedSource<T> {
  readonly name: string;
  /** Audit actions that change the resource. */
  readonly actions: readonly AuditAction[];
  /** Existing items with an id above `id`, in the order of their ids. */
  listAfter(id: string | null, limit: number): Promise<readonly (T & { readonly id: string })[]>;
  /** Current items by the subject ids of their audit entries. */
  findBySubject(ids: readonly string[]): Promise<ReadonlyMap<string, T>>;
}

export interface FeedRequest {
  readonly cursor?: string;
  /** Start without a cursor: existing items first, or only changes from now on. */
  readonly from: 'beginning' | 'now';
  readonly limit: number;
  readonly waitMs: number;
  /** Rejects if the credential of the caller has ended while the request waited. */
  readonly requireStillValid: () => Promise<void>;
}

/** A change, or an item that existed when the feed began. */
export interface FeedEntry<T> {
  readonly change?: RecordedChange;
  /** Current item; `undefined` if it was deleted. */
  readonly item?: T;
}

export interface FeedPage<T> {
  readonly entries: readonly FeedEntry<T>[];
  readonly cursor: string;
  /** There may be more changes, so the next request need not wait. */
  readonly hasMore: boolean;
}

/** One look at the database for all requests that wait. */
interface Look {
  /** All of them read up to here, so that from then on their positions are equal. */
  readonly snapshot: string;
  readonly steps: Map<string, Promise<Step<unknown>>>;
}

interface Step<T> {
  readonly entries: readonly FeedEntry<T>[];
  readonly next: Position;
  readonly hasMore: boolean;
}

/**
 * Returns every change at least once, in the order in which the changes became visible. The order comes from PostgreSQL
 * snapshots, because times are taken before the commit (ADR 0047).
 */
@Injectable()
export class ChangeFeed {
  private nextLook: Promise<Look> | undefined;

  constructor(
    private readonly recorded: RecordedChangesRepository,
    private readonly clock: Clock,
    private readonly draining: Draining,
  ) {}

  /** @param left aborted when the client disconnects */
  async page<T>(
    source: FeedSource<T>,
    request: FeedRequest,
    left: AbortSignal,
  ): Promise<FeedPage<T>> {
    const present = await this.recorded.present();
    let position = this.begin(source, request, present);
    const end = performance.now() + request.waitMs;
    let look: Look | undefined;
    for (let emptyReads = 1; ; emptyReads += 1) {
      const step = await this.stepAt(look, source, present, position, request.limit);
      position = step.next;
      const leftMs = end - performance.now();
      const isDone = step.hasMore ? emptyReads >= MOST_EMPTY_READS : leftMs <= 0;
      const isOver = left.aborted || this.draining.begun;
      if (step.entries.length > 0 || isDone || isOver) {
        const { cluster, restore } = present;
        const issuedAt = this.clock.now().getTime();
        const cursor = cursorText({ feed: source.name, issuedAt, cluster, restore, position });
        return { entries: step.entries, cursor, hasMore: step.hasMore };
      }
      if (!step.hasMore) {
        emptyReads = 0;
        // The last read of a request does not wait for the common look.
        look = leftMs > LOOK_MS ? await this.lookLater() : await sleep(leftMs);
        await request.requireStillValid();
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
  private async stepAt<T>(
    look: Look | undefined,
    source: FeedSource<T>,
    present: Present,
    position: Position,
    limit: number,
  ): Promise<Step<T>> {
    if (!look || isListing(position) || position.page) {
      return await this.read(source, present, position, limit);
    }
    const key = JSON.stringify([source.name, present.restore, position.seen, limit]);
    const known = look.steps.get(key) as Promise<Step<T>> | undefined;
    if (known) return await known;
    const step = this.read(source, present, position, limit, look.snapshot);
    look.steps.set(key, step);
    return await step;
  }

  private begin<T>(source: FeedSource<T>, request: FeedRequest, present: Present): Position {
    if (request.cursor !== undefined) {
      const cursor: ChangeCursor = cursorFrom(source.name, request.cursor);
      requireUsable(cursor, present, present.snapshot, this.clock.now());
      return cursor.position;
    }
    const seen = present.snapshot;
    return request.from === 'beginning' ? { seen, listedTo: null } : { seen };
  }

  private async read<T>(
    source: FeedSource<T>,
    present: Present,
    position: Position,
    limit: number,
    until?: string,
  ): Promise<Step<T>> {
    if (isListing(position)) return await list(source, position, limit);
    const { changes, next } = await this.recorded.read(
      position,
      present,
      source.actions,
      limit,
      until,
    );
    const ids = new Set(changes.map(({ subjectId }) => subjectId));
    const items = ids.size > 0 ? await source.findBySubject([...ids]) : new Map<string, T>();
    const entries = changes.map((change) => ({ change, item: items.get(change.subjectId) }));
    return { entries, next, hasMore: next.page !== undefined };
  }
}

async function list<T>(
  source: FeedSource<T>,
  { seen, listedTo }: Extract<Position, { listedTo: string | null }>,
  limit: number,
): Promise<Step<T>> {
  const items = await source.listAfter(listedTo, limit);
  const last = items.length === limit ? items.at(-1) : undefined;
  return {
    entries: items.map((item) => ({ item })),
    next: last ? { seen, listedTo: last.id } : { seen },
    // The changes since the beginning of the list come next.
    hasMore: true,
  };
}
