import { Injectable, Logger } from '@nestjs/common';
import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { within } from '../platform/concurrency/within.js';
import { ConnectionLostError } from '../platform/database/sqlstate.js';
import { PrincipalsRepository, type VerifiedCredential } from './principals.js';

const PREFIX_LENGTH = 8;
const SECRET_BYTES = 32;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY = /^its_([A-Za-z0-9]{8})_[A-Za-z0-9_-]{43}$/;
const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/;

export const createSessionToken = () => randomBytes(SECRET_BYTES).toString('base64url');

export function createKey() {
  const letters = Array.from({ length: PREFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]);
  return readKey(`its_${letters.join('')}_${createSessionToken()}`)!;
}

/** A plain hash is safe to store, because a secret of 256 bits cannot be guessed. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export function readKey(key: string) {
  const prefix = KEY.exec(key)?.[1];
  return prefix === undefined ? undefined : { key, prefix, hash: hashOf(key) };
}

/** Returns the hexadecimal hash of a token, or `undefined` if the text is not a token. */
export const sessionHashOf = (token: string): string | undefined =>
  SESSION_TOKEN.test(token) ? hashOf(token).toString('hex') : undefined;

/** Maximum age of a read. A revocation must take effect within 1 s; the rest of that second is margin. */
export const VALID_MS = 800;
/** Shorter than the statement timeout, so that a hanging database does not block requests for that long. */
const READ_TIMEOUT_MS = 3_000;
const BATCH = 200;

interface CachedRead<V> {
  /** By the monotonic clock. */
  readonly askedAt: number;
  readonly result: Promise<V | undefined>;
}

/**
 * Caches credentials, found or missing, for less than 1 s, so that not every request reads the database. Concurrent
 * requests share one statement, and at most two statements run at a time.
 */
export class CredentialCache<V> {
  /** In the order of `askedAt`. */
  private readonly known = new Map<string, CachedRead<V>>();
  private readonly reads: Batcher<string, V | undefined>;

  constructor(readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.reads = new Batcher<string, V | undefined>(async (keys) => {
      const values = await within(READ_TIMEOUT_MS, readAll(keys), failLate);
      return keys.map((key) => values.get(key));
    }, BATCH);
  }

  async get(key: string): Promise<V | undefined> {
    const now = performance.now();
    for (const [old, { askedAt }] of this.known) {
      if (askedAt > now - VALID_MS) break;
      this.known.delete(old);
    }
    const known = this.known.get(key);
    if (known) return await known.result;
    const read = { askedAt: now, result: this.reads.submit(key) };
    this.known.set(key, read);
    try {
      return await read.result;
    } catch (error) {
      if (this.known.get(key) === read) this.known.delete(key);
      throw error;
    }
  }

  /** Later requests read again, and do not use the result of a read in progress. */
  clear(): void {
    this.known.clear();
  }
}

function failLate(): never {
  throw new ConnectionLostError('The database does not answer.');
}

const MINUTE = 60_000;

export interface Credential {
  readonly kind: VerifiedCredential['identity']['kind'];
  /** Empty if the Authorization header is malformed. */
  readonly token: string;
}

/**
 * Verifies credentials without a database read per request: see docs/adr/0007. Stores the last use of each credential
 * at most once per minute, without delaying requests.
 */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);
  private readonly caches: Readonly<
    Record<Credential['kind'], CredentialCache<VerifiedCredential>>
  >;

  constructor(
    private readonly repository: PrincipalsRepository,
    private readonly clock: Clock,
  ) {
    this.caches = {
      key: new CredentialCache((prefixes) => repository.find('key', prefixes)),
      user: new CredentialCache((hashes) => repository.find('user', hashes)),
    };
  }

  async verify({ kind, token }: Credential): Promise<VerifiedCredential | undefined> {
    const key = kind === 'key' ? readKey(token) : undefined;
    const lookup = kind === 'key' ? key?.prefix : sessionHashOf(token);
    const known = lookup === undefined ? undefined : await this.caches[kind].get(lookup);
    if (!known || (key && !timingSafeEqual(known.secretHash!, key.hash))) return undefined;
    const now = this.clock.now();
    if (known.endsAt && known.endsAt <= now) return undefined;
    if (!known.usedAt || now.getTime() - known.usedAt.getTime() >= MINUTE) {
      known.usedAt = now;
      // The next use is stored again.
      const warn = (err: unknown) => this.logger.warn({ err }, 'A last use was not stored.');
      this.repository.noteUsed(known.identity).catch(warn);
    }
    return known;
  }

  /**
   * Reads all credentials again, after a change of any of them. The change takes effect immediately on this replica,
   * and within 1 s on the other replicas.
   */
  forget(): void {
    this.caches.key.clear();
    this.caches.user.clear();
  }
}
