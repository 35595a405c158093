import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Settings } from '../config/settings.js';
import { AppError, UnavailableError } from '../errors/app-error.js';
import { GrowingBuffer } from '../growing-buffer.js';

/** The memory of small bodies is not counted, so that they are never rejected. A connection takes as much itself. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Number of bodies of the maximum size that fit into the memory for large bodies. */
const LARGE_BODIES = 12;
const SMALLEST_LIMIT = 65_536;

/** Limits for discarding the rest of a body. Without it, a client that still sends may never read the response. */
const DISCARD_BYTES = 8 * 1024 * 1024;
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
      oldest.reject(noMemory());
    }
    const fits = this.taken + to <= this.bytes;
    this.taken += fits ? to : from;
    return fits;
  }
}

/** Nothing is read before `read` is called, so TCP makes the sender wait until the caller is authenticated. */
export class ArrivingBody {
  private readonly announced: number;
  private readonly arrival = Promise.withResolvers<void>();
  private held = 0;

  constructor(
    private readonly raw: IncomingMessage,
    private readonly memory: BodyMemory,
  ) {
    this.announced = Number(raw.headers['content-length'] ?? NaN);
    this.arrival.promise.catch(() => undefined);
  }

  /** Reads once per turn of the event loop: megabytes of tiny chunks in one turn would block other requests. */
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
    read();
    try {
      await this.arrival.promise;
      return content.content;
    } finally {
      isOver = true;
      raw.off('readable', later).off('end', end).off('close', end);
      this.memory.arriving.delete(this);
    }
  }

  reject(problem: AppError): void {
    this.arrival.reject(problem);
    this.memory.arriving.delete(this);
    this.release();
  }

  /** Calls `then` with true if the whole body has arrived, because the connection can then be used again. */
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
