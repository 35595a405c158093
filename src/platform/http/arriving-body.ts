import { Injectable } from '@nestjs/common';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { Settings } from '../config/settings.js';
import { AppError, UnavailableError } from '../errors/app-error.js';
import { GrowingBuffer } from '../growing-buffer.js';

/** The memory of small bodies is not counted, so that they are never rejected. A connection takes as much itself. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Number of bodies of the maximum size that fit into the memory for large bodies. */
const LARGE_BODIES = 12;
const SMALLEST_LIMIT = 65_536;

/** Maximum time to discard the rest of a body. Without it, a client that still sends may never read the response. */
const DISCARD_MS = 1_000;

/** Limits the memory of large bodies. Each body counts until its response is sent. */
@Injectable()
export class BodyMemory {
  /** Bodies that have not arrived completely, oldest first. */
  readonly arriving = new Set<ArrivingBody>();
  private readonly bytes: number;
  private taken = 0;

  constructor({ bodyLimitBytes }: Settings) {
    this.bytes = LARGE_BODIES * Math.max(bodyLimitBytes, SMALLEST_LIMIT);
  }

  /** Rejects the oldest incomplete bodies until there is memory, so that slow senders do not block fast senders. */
  resize(from: number, to: number, body: ArrivingBody): boolean {
    this.taken -= from;
    for (const oldest of this.arriving) {
      if (this.taken + to <= this.bytes || oldest === body) break;
      oldest.evict();
    }
    const fits = this.taken + to <= this.bytes;
    this.taken += fits ? to : from;
    return fits;
  }
}

/** Nothing is read before `read` is called, so TCP makes the sender wait until the caller is authenticated. */
export class ArrivingBody {
  private readonly announced: number;
  /** Aborts reading when the body is evicted, and when its connection ends early, even without an error. */
  private readonly halt = new AbortController();
  private held = 0;

  constructor(
    private readonly raw: IncomingMessage,
    private readonly memory: BodyMemory,
  ) {
    this.announced = Number(raw.headers['content-length'] ?? NaN);
    raw.once('close', () => this.halt.abort());
  }

  get isComplete(): boolean {
    return this.raw.complete;
  }

  /** Reads once per turn of the event loop: megabytes of tiny chunks in one turn would block other requests. */
  async read(limit: number): Promise<Buffer> {
    const { raw, announced } = this;
    if (announced > limit) throw tooLarge(limit);
    const { signal } = this.halt;
    const content = new GrowingBuffer(announced || limit, (bytes) => this.reserve(bytes));
    try {
      for (;;) {
        const chunk = raw.read() as Buffer | null;
        if (chunk && content.length + chunk.length > limit) throw tooLarge(limit);
        if (chunk && !content.append(chunk)) throw noMemory();
        if (raw.complete && raw.readableLength === 0) return content.content;
        await once(raw, 'readable', { signal });
        await setImmediate(undefined, { signal });
      }
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      if (signal.aborted && !raw.destroyed) throw noMemory();
      throw new AppError('bad_request', 'The body was cut short.', { cause });
    } finally {
      this.memory.arriving.delete(this);
    }
  }

  evict(): void {
    this.halt.abort();
    this.memory.arriving.delete(this);
    this.release();
  }

  /** Discards the rest of the body. If it arrives in time, the connection can be used again. */
  async discard(): Promise<void> {
    this.raw.resume();
    await finished(this.raw, { signal: AbortSignal.timeout(DISCARD_MS) }).catch(() => undefined);
    this.raw.pause();
  }

  release(): void {
    this.memory.resize(this.held, 0, this);
    this.held = 0;
  }

  private reserve(bytes: number): boolean {
    if (bytes <= SMALL_BODY_BYTES) return true;
    this.memory.arriving.add(this);
    if (!this.memory.resize(this.held, bytes, this)) return false;
    this.held = bytes;
    return true;
  }
}

const tooLarge = (limit: number) =>
  new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);

const noMemory = () => new UnavailableError('Too many request bodies are under way.', undefined, 1);
