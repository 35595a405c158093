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

const isXid = (xid: bigint): boolean => xid < MOST;

/** First transaction id that was not assigned when the snapshot was taken. */
function endOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1]!);
}

/** Position in the changes that the snapshot `seen` does not see. */
export interface Position {
  readonly seen: string;
  /** Last item read of the initial list of existing items, which comes before the changes; null at its beginning. */
  readonly listedTo?: string | null;
  /** The last change read of those up to the snapshot `until`. */
  readonly page?: { readonly until: string; readonly after: Cursor };
}

/** Identifies the database, because transaction ids and snapshots are valid only there. */
interface DatabaseEra {
  /** System identifier of the cluster. */
  readonly cluster: string;
  /** Audit entry of the last restore; null if there was none. */
  readonly restore: string | null;
}

export interface Present extends DatabaseEra {
  readonly snapshot: string;
}

interface ChangeCursor extends DatabaseEra {
  readonly feed: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly position: Position;
}

const CURSOR_DAYS = 30;
const CURSOR_MS = CURSOR_DAYS * 86_400_000;

/** Increases if the meaning of the fields changes. */
const VERSION = 1;

export function cursorText({ feed, issuedAt, cluster, restore, position }: ChangeCursor): string {
  const { seen, listedTo, page } = position;
  const pageParts = page ? [page.until, page.after.xid, page.after.id] : [];
  const place = listedTo === undefined ? ['changes', seen, ...pageParts] : ['list', seen, listedTo];
  const fields = [VERSION, feed, issuedAt, cluster, restore, ...place];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
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

/** Throws if changes after the cursor may be missing. */
export function requireUsable(
  { issuedAt, cluster, restore, position: { seen, page } }: ChangeCursor,
  present: Present,
  now: Date,
): void {
  if (now.getTime() - issuedAt > CURSOR_MS) {
    throw expired('too_old', `The cursor is older than ${CURSOR_DAYS} days.`);
  }
  // After a recovery to an earlier time, the cursor is ahead of the database.
  const isAhead = endOf(page?.until ?? seen) > endOf(present.snapshot);
  if (cluster !== present.cluster || restore !== present.restore || isAhead) {
    throw expired('database_restored', 'The database was restored after the cursor was issued.');
  }
}

function expired(reason: 'too_old' | 'database_restored', message: string): AppError {
  return new AppError('cursor_expired', `${message} Start again with from=beginning.`, {
    details: { reason },
  });
}
