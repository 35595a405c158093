import type { IncomingMessage } from 'node:http';
import { AppError, UnavailableError } from '../errors/app-error.js';
import { GrowingBuffer } from '../growing-buffer.js';

/** Largest body that counts as small: a login, an approval, the kill switch, most events of a webhook. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Limits for discarding the rest of a rejected body: a client that is still sending may never read the response. */
const DISCARD_BYTES = 8 * 1024 * 1024;
const DISCARD_MS = 1_000;

class Pool {
  /** Incomplete bodies, oldest first. */
  readonly arriving = new Set<ArrivingBody>();
  private taken = 0;

  constructor(private readonly bytes: number) {}

  /**
   * Changes the reserved bytes of `body`. Rejects the oldest incomplete bodies until there is enough memory, so that
   * slow senders do not block fast senders.
   */
  resize(from: number, to: number, body: ArrivingBody): boolean {
    this.taken -= from;
    for (const oldest of this.arriving) {
      if (this.taken + to <= this.bytes || oldest === body) break;
      oldest.reject(noMemory());
    }
    const fits = this.taken + to <= this.bytes;
    this.taken += fits ? to : from;
    return fits;
  }
}

/**
 * Bounds the memory of request bodies: of small bodies until they are complete, of large bodies until the response is
 * sent. Large bodies never take the memory of small bodies.
 */
export class BodyMemory {
  readonly small: Pool;
  readonly large: Pool;

  constructor(bytes: number, largestBody: number) {
    this.small = new Pool(bytes / 4);
    this.large = new Pool(Math.max((3 * bytes) / 4, largestBody));
  }
}

/**
 * Body of one request. Nothing is read before `read` is called, so TCP makes the sender wait until the caller is
 * authenticated. Node aborts a request that does not arrive in time (`requestTimeout`).
 */
export class ArrivingBody {
  private readonly announced: number;
  private readonly arrival = Promise.withResolvers<void>();
  private pool: Pool;
  private held = 0;

  constructor(
    private readonly raw: IncomingMessage,
    private readonly memory: BodyMemory,
  ) {
    this.announced = Number(raw.headers['content-length'] ?? NaN);
    this.pool = this.announced > SMALL_BODY_BYTES ? memory.large : memory.small;
    this.arrival.promise.catch(() => undefined);
  }

  /**
   * Returns the whole body if it has at most `limit` bytes. Reads once in each turn of the event loop. Otherwise Node would
   * parse megabytes of tiny chunks in one turn, while other requests wait.
   */
  async read(limit: number): Promise<Buffer> {
    const { raw, announced } = this;
    if (announced > limit) throw tooLarge(limit);
    const most = Number.isNaN(announced) ? limit : announced;
    const content = new GrowingBuffer(most, (bytes) => this.reserve(bytes));
    const read = (): void => {
      const chunk = (isOver ? null : raw.read()) as Buffer | null;
      if (!chunk) return;
      if (content.length + chunk.length > limit) this.reject(tooLarge(limit));
      else if (!content.append(chunk)) this.reject(noMemory());
    };
    const later = (): void => void setImmediate(read);
    const end = (): void => {
      if (raw.complete) this.arrival.resolve();
      else this.reject(new AppError('bad_request', 'The body was cut short.'));
    };
    let isOver = false;
    raw.on('readable', later).on('end', end).on('close', end).on('error', end);
    this.pool.arriving.add(this);
    read();
    try {
      await this.arrival.promise;
      return content.content;
    } finally {
      isOver = true;
      raw.off('readable', later).off('end', end).off('close', end);
      this.pool.arriving.delete(this);
      if (this.pool === this.memory.small) this.release();
    }
  }

  reject(problem: AppError): void {
    this.arrival.reject(problem);
    this.pool.arriving.delete(this);
    this.release();
  }

  /** Discards the unread rest. Calls `then` with true if the whole body arrived, so that the connection is reusable. */
  discard(then: (isAll: boolean) => void): void {
    const { raw } = this;
    if (raw.complete || raw.destroyed || this.announced > DISCARD_BYTES) return then(raw.complete);
    const stop = (): void => {
      clearTimeout(timer);
      raw.off('close', stop).off('end', stop).pause();
      then(raw.complete);
    };
    const timer = setTimeout(stop, DISCARD_MS);
    raw.on('close', stop).on('end', stop).resume();
  }

  release(): void {
    this.pool.resize(this.held, 0, this);
    this.held = 0;
  }

  /** Reserves memory. A body that is no longer small moves to the memory of large bodies. */
  private reserve(bytes: number): boolean {
    if (bytes > SMALL_BODY_BYTES && this.pool === this.memory.small) {
      this.release();
      this.pool.arriving.delete(this);
      this.pool = this.memory.large;
      this.pool.arriving.add(this);
    }
    if (!this.pool.resize(this.held, bytes, this)) return false;
    this.held = bytes;
    return true;
  }
}

const tooLarge = (limit: number) =>
  new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);

const noMemory = () => new UnavailableError('Too many request bodies are under way.', undefined, 1);
