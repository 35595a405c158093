const NOTHING: Buffer = Buffer.alloc(0);

export interface GrowingBufferOptions {
  /** Minimum allocation. */
  readonly firstBytes: number;
  /** Announced length of the content. Not more than this is allocated ahead. */
  readonly announcedBytes?: number;
  /** Keeps content of a single chunk in that chunk instead of copying it. For content that is used up soon. */
  readonly keepsOnlyChunk?: boolean;
  /** Called before an allocation with the total size. If it returns false, the chunk is not appended. */
  readonly reserve: (bytes: number) => boolean;
}

/**
 * Collects chunks in one buffer that doubles when full. Separate chunks would cost far more memory: each is an object
 * of about 500 bytes and keeps alive everything that was read together with it.
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

  /** Returns false if there is no memory for the chunk. */
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
