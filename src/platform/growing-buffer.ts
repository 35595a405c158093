const FIRST_BYTES = 4_096;

/** Buffer that doubles its size when it is full. Separate chunks of one byte each would take 500 bytes per chunk. */
export class GrowingBuffer {
  private bytes = Buffer.alloc(0);
  private used = 0;

  /** @param reserve called with the total size before an allocation; returns false if there is not enough memory */
  constructor(
    private readonly most: number,
    private readonly reserve: (bytes: number) => boolean,
  ) {}

  get content(): Buffer {
    return this.bytes.subarray(0, this.used);
  }

  get length(): number {
    return this.used;
  }

  /** Returns false if there is not enough memory for the chunk. */
  append(chunk: Buffer): boolean {
    const length = this.used + chunk.length;
    if (length > this.bytes.length) {
      const doubled = Math.max(2 * this.bytes.length, FIRST_BYTES);
      const capacity = Math.max(length, Math.min(doubled, this.most));
      if (!this.reserve(capacity)) return false;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    chunk.copy(this.bytes, this.used);
    this.used = length;
    return true;
  }
}
