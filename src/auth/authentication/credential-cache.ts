import { UnavailableError } from '../../platform/errors/app-error.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { within } from '../../platform/concurrency/within.js';

/**
 * How old the read may be on which an answer rests, counted from its start to the request. Revocation is promised
 * within a second; the rest of that second is margin.
 */
export const VALID_MS = 800;
/** From this age on a use has the entry read again beside it, so that a busy key never makes a request wait. */
const REFRESH_MS = 400;
/** A database that hangs must not hold every request for as long as a statement may take. */
const READ_TIMEOUT_MS = 3_000;

const MOST_KNOWN = 20_000;
const MOST_MISSING = 2_000;
const BATCH = 200;

interface CachedRead<V> {
  readonly value: V | undefined;
  /** When the read began that found it so; monotonic. */
  readonly readAt: number;
}

type Outcome<V> = CachedRead<V> | { readonly failure: unknown };

/**
 * Answers from reads that are well under a second old. What arrives together is read in one statement, and two are
 * under way at most: whatever strangers send, the database sees no more than that. What does not exist is remembered
 * apart from what does, so that invented keys push out no real one.
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
        // For all of them: one by one, as a batch of writes is tried again, each would wait for the same database.
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
    // A read that was joined may have begun long before this request came.
    while (confirmed.readAt <= oldest) confirmed = await this.read(key);
    return confirmed.value;
  }

  /** The next use reads it again; what a read under way finds is not kept. */
  forget(key: string): void {
    this.found.delete(key);
    this.underWay.delete(key);
  }

  /** The same for all that is such; of reads under way nobody knows yet what they will find. */
  forgetWhere(isSuch: (value: V) => boolean): void {
    for (const [key, { value }] of this.found) {
      if (value !== undefined && isSuch(value)) this.found.delete(key);
    }
    this.underWay.clear();
  }

  private refresh(key: string): void {
    // When it fails, the entry simply grows old and the next request learns why.
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

/** Entries stand in the order of their reads; two go for each that comes, as long as they are of no use. */
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
