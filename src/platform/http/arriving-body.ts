import type { IncomingMessage } from 'node:http';
import { AppError, UnavailableError } from '../errors/app-error.js';
import { GrowingBuffer } from '../growing-buffer.js';
import { type BodyMemory, BodyShare, SMALL_BODY_BYTES, Stranger } from './body-memory.js';

/** Chunks read in a row before other requests get a turn. The cost of a chunk hardly depends on its size. */
const CHUNKS_AT_A_TIME = 256;

/**
 * Stops reading from a connection, so that TCP makes the sender wait. Node's `pause` is not enough, because Node requests more
 * data after each chunk.
 */
class SenderPause {
  private readonly readOn: () => void;
  private isPaused = false;
  private isOthersTurn = false;
  private chunks = 0;

  /** @param mustWait whether the sender has to wait for memory */
  constructor(
    private readonly raw: IncomingMessage,
    private readonly mustWait: () => boolean,
  ) {
    const read = raw._read.bind(raw);
    this.readOn = () => read(0);
    raw._read = (size) => {
      if (!this.isPaused) read(size);
    };
  }

  /** Call this after each chunk. */
  afterChunk(): void {
    this.chunks += 1;
    if (this.chunks % CHUNKS_AT_A_TIME === 0) this.letOthersHaveTheirTurn();
    else if (this.isOthersTurn || this.mustWait()) this.pause();
  }

  /** Continues to read, unless there is still a reason to wait. */
  resume(): void {
    if (!this.isPaused || this.isOthersTurn || this.mustWait()) return;
    this.isPaused = false;
    this.readOn();
  }

  private letOthersHaveTheirTurn(): void {
    this.pause();
    if (this.isOthersTurn) return;
    this.isOthersTurn = true;
    setImmediate(() => {
      this.isOthersTurn = false;
      this.resume();
    });
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.raw.socket.pause();
  }
}

/** So much of a body is taken before it is known whether anybody wants it; then the sender has to wait. */
const UNDECIDED_BYTES = SMALL_BODY_BYTES;
const UNDECIDED_CHUNKS = 1_024;
const SMALLEST_BUFFER = 1024;

/** For a body to arrive whole: one that takes longer holds memory that others may need. */
const ARRIVAL_MS = 30_000;
const ARRIVAL_OF_STRANGERS_MS = 10_000;

/**
 * A client that is still sending when the connection closes may never read the answer. So what nobody wants is read and
 * thrown away, as long as that is soon done.
 */
const DISCARD_BYTES = 8 * 1024 * 1024;
const DISCARD_CHUNKS = 16 * 1024;
const DISCARD_MS = 1_000;

/**
 * Somebody without a credential who sends so many tiny chunks wants nothing but the time that they cost. The connection
 * is cut: Node would go on through all that it has read of it, some ten thousand chunks at a time.
 */
const MOST_TINY_CHUNKS = 2_048;
const TINY_BYTES = 16;

type Then = () => void;

/**
 * The body of one request on its way in. Nobody has asked for it at first (`undecided`): its sender is held back after
 * the first bytes. Then it is `wanted` by the handler, or `unwanted` and thrown away as it comes.
 */
export class ArrivingBody {
  private state: 'undecided' | 'wanted' | 'unwanted' = 'undecided';
  private limit = Infinity;
  private problem: AppError | undefined;

  /** Nothing more comes: all of it was sent, or the connection broke. */
  private isOver = false;
  private whenOver: Then | undefined;

  private readonly announced: number;
  private readonly content: GrowingBuffer;
  private readonly share: BodyShare;
  private readonly pause: SenderPause;

  private readonly received = { bytes: 0, chunks: 0 };
  private readonly discarded = { bytes: 0, chunks: 0 };
  private whenTooMuchDiscarded: Then | undefined;

  /** `invite` tells a client that waits for it (Expect: 100-continue) to send the body. */
  constructor(
    private readonly raw: IncomingMessage,
    memory: BodyMemory,
    private invite: Then | undefined,
  ) {
    this.announced = Number(raw.headers['content-length']);
    this.share = new BodyShare(memory, this.announced);
    this.content = new GrowingBuffer({
      firstBytes: SMALLEST_BUFFER,
      announcedBytes: this.announced,
      // Most bodies are one chunk.
      keepsOnlyChunk: true,
      reserve: (bytes) => this.share.resize(bytes),
    });
    this.pause = new SenderPause(raw, () => this.mustWait());
    raw.on('data', (chunk: Buffer) => this.take(chunk));
    raw.on('end', () => this.end());
    raw.on('error', () => this.end(new AppError('bad_request', 'The body was cut short.')));
  }

  /** The whole body, when it has at most `limit` bytes; `sender` is the principal's name, or a stranger. */
  async read(limit: number, sender: string | Stranger): Promise<Buffer> {
    this.limit = limit;
    if (this.announced > limit || this.content.length > limit) this.refuse(tooLarge(limit));
    else if (!this.share.assignTo(sender)) this.refuse(noMemory());
    if (!this.isOver && !this.problem) await this.arrival();
    if (this.problem) throw this.problem;
    return this.content.content;
  }

  /** Whether there is nothing in it, which a body without an announced length shows only as it arrives. */
  isEmpty(sender: string | Stranger): Promise<boolean> {
    return this.read(0, sender).then(
      () => true,
      () => false,
    );
  }

  /** Counts a body that was read for whoever turned out to have sent it, and no more for the stranger. */
  assignTo(sender: string): void {
    if (!this.share.assignTo(sender)) throw noMemory();
  }

  /** Throws away what nobody has read, and says whether that is all: otherwise the connection cannot be used again. */
  discard(then: (isAll: boolean) => void): void {
    if (this.isOver) return then(this.raw.complete);
    this.drop();
    if (this.invite || this.announced - this.discarded.bytes > DISCARD_BYTES) return then(false);
    const stop = (): void => {
      clearTimeout(timer);
      this.whenOver = this.whenTooMuchDiscarded = undefined;
      then(this.raw.complete);
    };
    const timer = setTimeout(stop, DISCARD_MS);
    this.whenOver = this.whenTooMuchDiscarded = stop;
    this.pause.resume();
  }

  /** The request has been answered: the memory is free for others. */
  release(): void {
    this.drop();
  }

  private arrival(): Promise<void> {
    this.state = 'wanted';
    const isStranger = this.share.sender instanceof Stranger;
    const mostMs = isStranger ? ARRIVAL_OF_STRANGERS_MS : ARRIVAL_MS;
    const timer = setTimeout(() => this.refuse(tooSlow()), mostMs);
    this.share.awaitRest(() => this.refuse(noMemory()));
    this.invite?.();
    this.invite = undefined;
    return new Promise((resolve) => {
      this.whenOver = () => {
        clearTimeout(timer);
        this.share.restArrived();
        this.whenOver = undefined;
        resolve();
      };
      this.pause.resume();
    });
  }

  private take(chunk: Buffer): void {
    this.received.bytes += chunk.length;
    if (this.isFlood()) return this.cut();
    this.received.chunks += 1;
    if (this.state === 'unwanted') this.throwAway(chunk);
    else if (this.content.length + chunk.length > this.limit) this.refuse(tooLarge(this.limit));
    else if (!this.content.append(chunk)) this.refuse(noMemory());
    this.pause.afterChunk();
  }

  private mustWait(): boolean {
    if (this.state !== 'undecided') return false;
    return this.content.length >= UNDECIDED_BYTES || this.received.chunks >= UNDECIDED_CHUNKS;
  }

  /** Who sends it is known once somebody wants the body, or nobody does: until then the sender waits. */
  private isFlood(): boolean {
    if (this.state === 'undecided' || typeof this.share.sender === 'string') return false;
    const { bytes, chunks } = this.received;
    return chunks > MOST_TINY_CHUNKS && bytes < chunks * TINY_BYTES;
  }

  private cut(): void {
    this.refuse(new AppError('bad_request', 'The body comes in too many small parts.'));
    this.raw.destroy();
  }

  private throwAway(chunk: Buffer): void {
    const { discarded } = this;
    discarded.bytes += chunk.length;
    discarded.chunks += 1;
    const isTooMuch = discarded.bytes > DISCARD_BYTES || discarded.chunks > DISCARD_CHUNKS;
    if (isTooMuch) this.whenTooMuchDiscarded?.();
  }

  private end(problem?: AppError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.problem ??= problem;
    this.whenOver?.();
  }

  private refuse(problem: AppError): void {
    this.problem ??= problem;
    this.drop();
    this.whenOver?.();
  }

  private drop(): void {
    this.state = 'unwanted';
    this.content.clear();
    this.share.release();
  }
}

function tooLarge(limit: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);
}

function tooSlow(): AppError {
  return new AppError('bad_request', 'The body took too long to arrive.');
}

function noMemory(): AppError {
  return new UnavailableError('Too many request bodies are under way.', undefined, 1);
}
