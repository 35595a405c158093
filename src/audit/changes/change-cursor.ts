import { AppError, ValidationError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Cursor } from '../chain/audit-chain.js';

/** Text of a `pg_snapshot`: `xmin:xmax:xip,…`. The snapshot sees the transactions below xmax that are not listed. */
const SNAPSHOT = /^(\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?)$/;

/** Whether PostgreSQL accepts the text as a snapshot. */
function isSnapshot(value: unknown): value is string {
  const match = typeof value === 'string' ? SNAPSHOT.exec(value) : null;
  if (!match) return false;
  const [xmin, xmax] = [BigInt(match[1]!), BigInt(match[2]!)];
  const running = match[3] ? match[3].split(',').map(BigInt) : [];
  const isAscending = running.every((xid, index) => index === 0 || xid > running[index - 1]!);
  const areInside = running.every((xid) => xid >= xmin && xid < xmax);
  return xmin > 0n && xmin <= xmax && isXid(xmax) && isAscending && areInside;
}

const MOST = 2n ** 63n;

function isXid(xid: bigint): boolean {
  return xid >= 0n && xid < MOST;
}

/** First transaction id that was not assigned when the snapshot was taken. */
export function endOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1]!);
}

/** Position in the initial list of existing items. The changes that `seen` does not see follow. */
interface Listing {
  readonly seen: string;
  readonly listedTo: string | null;
}

/**
 * Position in the changes that `seen` does not see. `page.after` is the last change read of those up to `page.until`.
 */
export interface Changing {
  readonly seen: string;
  readonly page?: { readonly until: string; readonly after: Cursor };
}

export type Position = Listing | Changing;

/** Identifies the database, because transaction ids and snapshots are valid only there. */
export interface DatabaseEra {
  /** System identifier of the cluster. */
  readonly cluster: string;
  /** Audit entry of the last restore; null if there was none. */
  readonly restore: string | null;
}

export interface ChangeCursor extends DatabaseEra {
  readonly feed: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly position: Position;
}

const CURSOR_DAYS = 30;
const CURSOR_MS = CURSOR_DAYS * 86_400_000;

/** Increases if the meaning of the fields changes. */
const VERSION = 1;

export function isListing(position: Position): position is Listing {
  return 'listedTo' in position;
}

export function cursorText({ feed, issuedAt, cluster, restore, position }: ChangeCursor): string {
  const place = isListing(position)
    ? ['list', position.seen, position.listedTo]
    : ['changes', position.seen, ...pageParts(position)];
  const fields = [VERSION, feed, issuedAt, cluster, restore, ...place];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

function pageParts({ page }: Changing): string[] {
  return page ? [page.until, page.after.xid, page.after.id] : [];
}

/** Throws if the text is not a cursor of the feed. */
export function cursorFrom(feed: string, text: string): ChangeCursor {
  const [version, ofFeed, issuedAt, cluster, restore, ...place] = fieldsOf(text);
  const position = positionFrom(place);
  if (
    version !== VERSION ||
    ofFeed !== feed ||
    !Number.isSafeInteger(issuedAt) ||
    typeof cluster !== 'string' ||
    !(restore === null || isUuid(restore)) ||
    !position
  ) {
    throw ValidationError.of('cursor', 'matches', 'cursor must be a cursor of this feed.');
  }
  return { feed, issuedAt: issuedAt as number, cluster, restore, position };
}

function fieldsOf(text: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}

function positionFrom(place: readonly unknown[]): Position | undefined {
  const [kind, seen, ...rest] = place;
  if (!isSnapshot(seen)) return undefined;
  if (kind === 'list') {
    const [listedTo] = rest;
    return listedTo === null || isUuid(listedTo) ? { seen, listedTo } : undefined;
  }
  if (kind !== 'changes') return undefined;
  if (rest.length === 0) return { seen };
  const [until, xid, id] = rest;
  const isPlace = typeof xid === 'string' && /^\d{1,19}$/.test(xid) && isXid(BigInt(xid));
  if (!isSnapshot(until) || !isPlace || !isUuid(id)) return undefined;
  return { seen, page: { until, after: { xid, id } } };
}

/** Throws if changes after the cursor may be missing. `present` is the latest snapshot. */
export function requireUsable(
  cursor: ChangeCursor,
  era: DatabaseEra,
  present: string,
  now: Date,
): void {
  if (now.getTime() - cursor.issuedAt > CURSOR_MS) {
    throw expired('too_old', `The cursor is older than ${CURSOR_DAYS} days.`);
  }
  const { cluster, restore, position } = cursor;
  const latest = 'page' in position && position.page ? position.page.until : position.seen;
  // After a recovery to an earlier time, the cursor is ahead of the database.
  const isAhead = endOf(latest) > endOf(present);
  if (cluster !== era.cluster || restore !== era.restore || isAhead) {
    throw expired('database_restored', 'The database was restored after the cursor was issued.');
  }
}

function expired(reason: 'too_old' | 'database_restored', message: string): AppError {
  return new AppError('cursor_expired', `${message} Start again with from=beginning.`, {
    details: { reason },
  });
}
