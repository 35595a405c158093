import { Batcher } from '../../platform/concurrency/batcher.js';
import { within } from '../../platform/concurrency/within.js';
import { ConnectionLostError } from '../../platform/database/sqlstate.js';

/**
 * Maximum age of a cached read, from its start to the arrival of the request. A revocation must take effect within 1 s;
 * the rest of that second is margin.
 */
export const VALID_MS = 800;
/** Shorter than the statement timeout, so that a hanging database does not block requests for that long. */
const READ_TIMEOUT_MS = 3_000;
const BATCH = 200;

interface CachedRead<V> {
  readonly value: V | undefined;
  /** Start of the read, by the monotonic clock. */
  readonly readAt: number;
}

/**
 * Caches credentials, found or missing, for less than 1 s, so that not every request reads the database. Concurrent
 * requests share one statement, and at most two statements run at a time.
 */
export class CredentialCache<V> {
  /** In the order of their reads. */
  private readonly known = new Map<string, CachedRead<V>>();
  private readonly underWay = new Map<string, Promise<CachedRead<V>>>();
  private readonly reads: Batcher<string, CachedRead<V>>;

  constructor(readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.reads = new Batcher<string, CachedRead<V>>(async (keys) => {
      const readAt = performance.now();
      const values = await within(READ_TIMEOUT_MS, readAll(keys), failLate);
      return keys.map((key) => ({ value: values.get(key), readAt }));
    }, BATCH);
  }

  async get(key: string): Promise<V | undefined> {
    const oldest = performance.now() - VALID_MS;
    let found = this.known.get(key);
    // A read in progress may be too old for this request.
    while (!found || found.readAt <= oldest) found = await this.read(key);
    return found.value;
  }

  /** Removes the credential, so that the next use reads it again. The result of a read in progress is not cached. */
  forget(key: string): void {
    this.known.delete(key);
    this.underWay.delete(key);
  }

  /** Removes all matching credentials. Results of reads in progress are not cached, because they might match. */
  forgetWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.known) {
      if (value !== undefined && matches(value)) this.known.delete(key);
    }
    this.underWay.clear();
  }

  private read(key: string): Promise<CachedRead<V>> {
    const joined = this.underWay.get(key);
    if (joined) return joined;
    const isForgotten = (): boolean => this.underWay.get(key) !== reading;
    const reading = this.reads
      .submit(key)
      .then((read) => {
        if (!isForgotten()) this.keep(key, read);
        return read;
      })
      .finally(() => {
        if (!isForgotten()) this.underWay.delete(key);
      });
    this.underWay.set(key, reading);
    return reading;
  }

  private keep(key: string, read: CachedRead<V>): void {
    this.known.delete(key);
    this.known.set(key, read);
    const oldest = performance.now() - VALID_MS;
    for (const [other, { readAt }] of this.known) {
      if (readAt > oldest) return;
      this.known.delete(other);
    }
  }
}

function failLate(): never {
  throw new ConnectionLostError('The database does not answer.');
}
