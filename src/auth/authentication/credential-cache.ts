import { UnavailableError } from '../../platform/errors/app-error.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { within } from '../../platform/concurrency/within.js';

/**
 * How old a read may be to answer a request, from the start of the read to the arrival of the request. A revocation has
 * to count within a second; the rest of that second is margin.
 */
export const VALID_MS = 800;
/** An entry of this age is still used, and read again meanwhile: a key in constant use never makes a request wait. */
const REFRESH_MS = 400;
/** Shorter than a statement may take: a database that hangs must not hold every request for that long. */
const READ_TIMEOUT_MS = 3_000;

const MOST_KNOWN = 20_000;
const MOST_MISSING = 2_000;
const BATCH = 200;

interface CachedRead<V> {
  readonly value: V | undefined;
  /** When the read began, by the monotonic clock. */
  readonly readAt: number;
}

type Outcome<V> = CachedRead<V> | { readonly failure: unknown };

/**
 * Remembers for less than a second what the database said of a credential, so that not every request reads it. Requests
 * that arrive together share one statement, and at most two statements run at a time, however many keys strangers
 * invent. Credentials that do not exist are remembered in a map of their own: invented keys push out no real one.
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
        // A result and no exception: after an exception the batcher would try the keys one by one, and each would wait
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
    // The read may have been under way already, and have begun too long ago for this request.
    while (confirmed.readAt <= oldest) confirmed = await this.read(key);
    return confirmed.value;
  }

  /** The next use reads the credential again, and what a read under way finds is not remembered. */
  forget(key: string): void {
    this.found.delete(key);
    this.underWay.delete(key);
  }

  /** Forgets all credentials that match, and what any read under way finds, since it might match, too. */
  forgetWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.found) {
      if (value !== undefined && matches(value)) this.found.delete(key);
    }
    this.underWay.clear();
  }

  private refresh(key: string): void {
    // After a failure the entry grows too old, and the next request that reads it gets the error.
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

/** Entries are in the order of their reads. Each new one removes up to two that are too old, or one too many. */
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
