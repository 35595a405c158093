import { GrowingBuffer } from '../growing-buffer.js';

const FIRST_BYTES = 4_096;

/**
 * The memory that all answers under way share. When they need more than there is, the largest of them is given up, so
 * that one vendor's endless answer does not cost another vendor its short one.
 */
export class AnswerMemory {
  private readonly answers = new Map<
    GrowingBuffer,
    { bytes: number; readonly giveUp: () => void }
  >();
  private reserved = 0;

  constructor(private readonly mostBytes: number) {}

  /** @param giveUp ends the request that the answer belongs to */
  open(giveUp: () => void): GrowingBuffer {
    const buffer: GrowingBuffer = new GrowingBuffer({
      firstBytes: FIRST_BYTES,
      reserve: (bytes) => this.reserve(buffer, bytes),
    });
    this.answers.set(buffer, { bytes: 0, giveUp });
    return buffer;
  }

  close(buffer: GrowingBuffer): void {
    this.reserved -= this.answers.get(buffer)?.bytes ?? 0;
    this.answers.delete(buffer);
  }

  private reserve(buffer: GrowingBuffer, bytes: number): boolean {
    const answer = this.answers.get(buffer);
    if (!answer) return false;
    this.reserved += bytes - answer.bytes;
    answer.bytes = bytes;
    while (this.reserved > this.mostBytes) this.giveUpLargest();
    return this.answers.has(buffer);
  }

  private giveUpLargest(): void {
    const [largest] = [...this.answers].sort(([, one], [, other]) => other.bytes - one.bytes);
    if (!largest) return;
    const [buffer, { giveUp }] = largest;
    this.close(buffer);
    giveUp();
  }
}
