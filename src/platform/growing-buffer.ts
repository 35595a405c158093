const NOTHING: Buffer = Buffer.alloc(0);

export interface GrowingBufferOptions {
  /** The least that is allocated. */
  readonly firstBytes: number;
  /** How long the content is going to be, where its sender said so: no more than that is allocated ahead. */
  readonly announcedBytes?: number;
  /** Content that came as one chunk stays in it and is not copied. Right where it is used up soon. */
  readonly keepsOnlyChunk?: boolean;
  /** Asked before that many bytes are allocated in all. When it says no, the chunk is not appended. */
  readonly reserve: (bytes: number) => boolean;
}

/**
 * Content that arrives in chunks, copied into one buffer that doubles when it is full. Kept as they came, chunks would
 * cost far more than they hold: each is an object of some 500 bytes, be it of one byte, and keeps alive everything that
 * was read from the connection together with it.
 */
export class GrowingBuffer {
  private bytes = NOTHING;
  private used = 0;

  constructor(private readonly options: GrowingBufferOptions) {}

  get length(): number {
    return this.used;
  }

  get content(): Buffer {
    return this.bytes.subarray(0, this.used);
  }

  /** False when there was no memory for the chunk. */
  append(chunk: Buffer): boolean {
    const length = this.used + chunk.length;
    if (length > this.bytes.length && !this.grow(length, chunk)) return false;
    if (this.bytes !== chunk) chunk.copy(this.bytes, this.used);
    this.used = length;
    return true;
  }

  clear(): void {
    this.bytes = NOTHING;
    this.used = 0;
  }

  private grow(length: number, chunk: Buffer): boolean {
    const { firstBytes, announcedBytes, keepsOnlyChunk, reserve } = this.options;
    const doubled = Math.max(2 * this.bytes.length, firstBytes);
    const capacity = Math.max(length, Math.min(doubled, announcedBytes || doubled));
    if (!reserve(capacity)) return false;
    const isWhole = keepsOnlyChunk && capacity === chunk.length;
    const larger = isWhole ? chunk : Buffer.allocUnsafeSlow(capacity);
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
    return true;
  }
}
