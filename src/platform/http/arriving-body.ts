import type { IncomingMessage } from 'node:http';
import { AppError, UnavailableError } from '../errors/app-error.js';
import { type BodyMemory, type BodySender, NOT_AUTHENTICATED, STRANGERS } from './body-memory.js';

/** So much of a body is taken before it is known whether anybody wants it; then the sender has to wait. */
const UNDECIDED_BYTES = 16 * 1024;
const SMALLEST_BUFFER = 1024;

/** For a body to arrive whole: one that trickles in for longer holds memory that others may need. */
const PATIENCE_MS = 30_000;
const PATIENCE_WITH_STRANGERS_MS = 10_000;

/**
 * A client that is still sending when the connection closes may never read the answer, so what nobody wants is taken and
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

/** Then others get their turn: a chunk costs about the same whether it holds one byte or thousands. */
const CHUNKS_AT_A_TIME = 256;

const NOTHING: Buffer = Buffer.alloc(0);

type Then = () => void;

/**
 * The body of one request on its way in. It is kept in one buffer that grows, because Node's own way, a buffer for each
 * chunk, costs some 500 bytes for a chunk of one. Until someone asks for it, the sender is held back.
 */
export class ArrivingBody {
  private bytes = NOTHING;
  private size = 0;
  private limit = Infinity;
  private chunks = 0;
  private received = 0;
  private state: 'undecided' | 'wanted' | 'unwanted' = 'undecided';
  private isOver = false;
  private problem: AppError | undefined;
  private whenOver: Then | undefined;

  /** What it has of the room. */
  private share = 0;
  private holder: BodySender = NOT_AUTHENTICATED;

  private readonly discarded = { bytes: 0, chunks: 0 };
  private whenTooMuch: Then | undefined;

  private isHeld = false;
  private isResting = false;
  private readonly announced: number;
  private readonly readOn: Then;

  /** `invite` tells a client that waits for it (Expect: 100-continue) to send the body. */
  constructor(
    private readonly raw: IncomingMessage,
    private readonly room: BodyMemory,
    private invite: Then | undefined,
  ) {
    this.announced = Number(raw.headers['content-length']);
    const read = raw._read.bind(raw);
    this.readOn = () => read(0);
    // Node asks for more after each chunk, which would undo the pause.
    raw._read = (size) => {
      if (!this.isHeld) read(size);
    };
    raw.on('data', (chunk: Buffer) => this.take(chunk));
    raw.on('end', () => this.end());
    raw.on('error', () => this.end(new AppError('bad_request', 'The body was cut short.')));
  }

  /** The whole body, when it has at most `limit` bytes; `sender` is the principal's name, if there is one. */
  async read(limit: number, sender: string | undefined): Promise<Buffer> {
    this.limit = limit;
    if (this.announced > limit || this.size > limit) this.refuse(tooLarge(limit));
    else if (!this.claimAs(sender ?? STRANGERS)) this.refuse(noRoom());
    if (!this.isOver && !this.problem) await this.arrival();
    if (this.problem) throw this.problem;
    return this.bytes.subarray(0, this.size);
  }

  /** Whether there is nothing in it, which a body without an announced length shows only as it arrives. */
  isEmpty(): Promise<boolean> {
    return this.read(0, undefined).then(
      () => true,
      () => false,
    );
  }

  /** Throws away what nobody has read, and says whether that is all: else the connection cannot be used again. */
  discard(then: (isAll: boolean) => void): void {
    if (this.isOver) return then(this.raw.complete);
    this.drop();
    if (this.invite || this.announced - this.discarded.bytes > DISCARD_BYTES) return then(false);
    const stop = (): void => {
      clearTimeout(timer);
      this.whenOver = this.whenTooMuch = undefined;
      then(this.raw.complete);
    };
    const timer = setTimeout(stop, DISCARD_MS);
    this.whenOver = this.whenTooMuch = stop;
    this.proceed();
  }

  /** The request has been answered: the room is free for others. */
  release(): void {
    this.drop();
  }

  private arrival(): Promise<void> {
    this.state = 'wanted';
    const late = new AppError('bad_request', 'The body took too long to arrive.');
    const patience = this.holder === STRANGERS ? PATIENCE_WITH_STRANGERS_MS : PATIENCE_MS;
    const timer = setTimeout(() => this.refuse(late), patience);
    this.invite?.();
    this.invite = undefined;
    return new Promise((resolve) => {
      this.whenOver = () => {
        clearTimeout(timer);
        this.whenOver = undefined;
        resolve();
      };
      this.proceed();
    });
  }

  private take(chunk: Buffer): void {
    this.received += chunk.length;
    if (this.isFlood()) return this.cut();
    if (this.state === 'unwanted') this.throwAway(chunk);
    else if (this.size + chunk.length > this.limit) this.refuse(tooLarge(this.limit));
    else if (!this.keep(chunk)) this.refuse(noRoom());
    this.chunks += 1;
    if (this.chunks % CHUNKS_AT_A_TIME === 0) this.rest();
    else if (this.mustWait()) this.hold();
  }

  private isFlood(): boolean {
    return (
      this.chunks > MOST_TINY_CHUNKS &&
      typeof this.holder === 'symbol' &&
      this.received < this.chunks * TINY_BYTES
    );
  }

  private cut(): void {
    this.refuse(new AppError('bad_request', 'The body comes in too many small parts.'));
    this.raw.destroy();
  }

  private keep(chunk: Buffer): boolean {
    const size = this.size + chunk.length;
    if (size > this.bytes.length) {
      const larger = Math.max(2 * this.bytes.length, SMALLEST_BUFFER);
      const capacity = Math.max(size, Math.min(larger, this.announced || larger));
      if (!this.claim(capacity)) return false;
      // Most bodies are one chunk, which can stay as it is.
      const grown = capacity === chunk.length ? chunk : Buffer.allocUnsafeSlow(capacity);
      this.bytes.copy(grown, 0, 0, this.size);
      this.bytes = grown;
    }
    if (this.bytes !== chunk) chunk.copy(this.bytes, this.size);
    this.size = size;
    return true;
  }

  private throwAway(chunk: Buffer): void {
    const { discarded } = this;
    discarded.bytes += chunk.length;
    discarded.chunks += 1;
    if (discarded.bytes > DISCARD_BYTES || discarded.chunks > DISCARD_CHUNKS) this.whenTooMuch?.();
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
    this.bytes = NOTHING;
    this.room.release(this.share, this.holder);
    this.share = 0;
  }

  private claimAs(holder: BodySender): boolean {
    const { share } = this;
    this.room.release(share, this.holder);
    this.share = 0;
    this.holder = holder;
    return this.claim(share);
  }

  private claim(share: number): boolean {
    const isSmall = share <= UNDECIDED_BYTES;
    if (!this.room.reserve(share - this.share, this.holder, isSmall)) return false;
    this.share = share;
    return true;
  }

  private rest(): void {
    this.hold();
    if (this.isResting) return;
    this.isResting = true;
    setImmediate(() => {
      this.isResting = false;
      this.proceed();
    });
  }

  private mustWait(): boolean {
    return this.isResting || (this.state === 'undecided' && this.size >= UNDECIDED_BYTES);
  }

  private hold(): void {
    if (this.isHeld) return;
    this.isHeld = true;
    this.raw.socket.pause();
  }

  private proceed(): void {
    if (!this.isHeld || this.mustWait()) return;
    this.isHeld = false;
    this.readOn();
  }
}

function tooLarge(limit: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);
}

function noRoom(): AppError {
  return new UnavailableError('Too many request bodies are under way.', undefined, 1);
}
