import { UnavailableError } from '../../platform/errors/app-error.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { within } from '../../platform/concurrency/within.js';

/**
 * Maximum age of a cached read, from its start to the arrival of the request. A revocation must take effect within 1 s;
 * the rest of that second is margin.
 */
export const VALID_MS = 800;
/**
 * An older entry is still used but refreshed in the background, so that a key in constant use never makes a request
 * wait.
 */
const REFRESH_MS = 400;
/** Shorter than the statement timeout, so that a hanging database does not block requests for that long. */
const READ_TIMEOUT_MS = 3_000;

const MOST_KNOWN = 20_000;
const MOST_MISSING = 2_000;
const BATCH = 200;

interface CachedRead<V> {
  readonly value: V | undefined;
  /** Start of the read, by the monotonic clock. */
  readonly readAt: number;
}

type Outcome<V> = CachedRead<V> | { readonly failure: unknown };

/**
 * Caches credentials for less than 1 s, so that not every request reads the database. Concurrent requests share one
 * statement, and at most two statements run at a time. Missing credentials have their own map, so that invented keys do
 * not displace real keys.
 */
export class CredentialCache<V> {
  private readonly found = new Map<string, CachedRead<V>>();
  private readonly missing = new Map<string, CachedRead<V>>();
  private readonly underWay = new Map<string, Promise<CachedRead<V>>>();
  private readonly reads: Batcher<string, Outcome<V>>;

  constructor(readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.reads = new Batcher<string, Outcome<V>>(async (keys) => {
      const readAt = performance.now();
      try {
        const values = await within(READ_TIMEOUT_MS, readAll(keys), failLate);
        return keys.map((key) => ({ value: values.get(key), readAt }));
      } catch (failure) {
        // A result instead of an exception: after an exception the batcher would retry key by key, and each would wait
        // for the same database.
        return keys.map(() => ({ failure }));
      }
    }, BATCH);
  }

  async get(key: string): Promise<V | undefined> {
    const oldest = performance.now() - VALID_MS;
    const known = this.found.get(key) ?? this.missing.get(key);
    if (known && known.readAt > oldest) {
      if (known.readAt < oldest + VALID_MS - REFRESH_MS) this.refresh(key);
      return known.value;
    }
    let confirmed = await this.read(key);
    // The read may have been in progress already and may be too old for this request.
    while (confirmed.readAt <= oldest) confirmed = await this.read(key);
    return confirmed.value;
  }

  /** The next use reads the credential again. The result of a read in progress is not cached. */
  forget(key: string): void {
    this.found.delete(key);
    this.underWay.delete(key);
  }

  /** Forgets all matching credentials. Results of reads in progress are not cached, because they might match. */
  forgetWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.found) {
      if (value !== undefined && matches(value)) this.found.delete(key);
    }
    this.underWay.clear();
  }

  private refresh(key: string): void {
    // After a failure the entry expires, and the next request reads again and gets the error.
    if (!this.underWay.has(key)) this.read(key).catch(() => undefined);
  }

  private read(key: string): Promise<CachedRead<V>> {
    const joined = this.underWay.get(key);
    if (joined) return joined;
    const isForgotten = (): boolean => this.underWay.get(key) !== reading;
    const reading = this.reads
      .submit(key)
      .then((outcome) => {
        if ('failure' in outcome) throw outcome.failure;
        if (!isForgotten()) this.keep(key, outcome);
        return outcome;
      })
      .finally(() => {
        if (!isForgotten()) this.underWay.delete(key);
      });
    this.underWay.set(key, reading);
    return reading;
  }

  private keep(key: string, confirmed: CachedRead<V>): void {
    this.found.delete(key);
    this.missing.delete(key);
    const entries = confirmed.value === undefined ? this.missing : this.found;
    entries.set(key, confirmed);
    dropOldest(entries, confirmed.value === undefined ? MOST_MISSING : MOST_KNOWN);
  }
}

/** Entries are in the order of their reads. Each new entry removes up to two that are expired or exceed the limit. */
function dropOldest(entries: Map<string, CachedRead<unknown>>, most: number): void {
  const oldest = performance.now() - VALID_MS;
  let looked = 0;
  for (const [key, { readAt }] of entries) {
    if (++looked > 2 || (readAt > oldest && entries.size <= most)) return;
    entries.delete(key);
  }
}

function failLate(): never {
  throw new UnavailableError('The database does not answer.');
}
