const FIRST_BYTES = 4_096;

/**
 * The memory that all answers under way share. Beyond the bound the largest of them gives way, so that one vendor's
 * endless answers do not cost another vendor its short one.
 */
export class AnswerMemory {
  private readonly bodies = new Set<AnswerBody>();
  private held = 0;

  constructor(private readonly mostBytes: number) {}

  /** @param giveWay ends the exchange that the answer belongs to */
  open(giveWay: () => void): AnswerBody {
    const body: AnswerBody = new AnswerBody(giveWay, (bytes) => this.take(bytes));
    this.bodies.add(body);
    return body;
  }

  close(body: AnswerBody): void {
    if (this.bodies.delete(body)) this.held -= body.capacity;
  }

  private take(bytes: number): void {
    this.held += bytes;
    while (this.held > this.mostBytes) {
      const [largest] = [...this.bodies].sort((one, other) => other.capacity - one.capacity);
      if (!largest) return;
      this.close(largest);
      largest.giveWay();
    }
  }
}

/**
 * The bytes of one answer, copied out of the chunks in which they came: a chunk of one byte is an object of its own and
 * keeps alive everything that was read from the connection with it, hundreds of times its size.
 */
export class AnswerBody {
  private buffer = Buffer.alloc(0);
  private length = 0;

  constructor(
    readonly giveWay: () => void,
    private readonly take: (bytes: number) => void,
  ) {}

  get capacity(): number {
    return this.buffer.length;
  }

  get content(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  append(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (length > this.capacity) this.grow(Math.max(length, 2 * this.capacity, FIRST_BYTES));
    chunk.copy(this.buffer, this.length);
    this.length = length;
  }

  private grow(capacity: number): void {
    const more = capacity - this.capacity;
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.content.copy(larger);
    this.buffer = larger;
    this.take(more);
  }
}
