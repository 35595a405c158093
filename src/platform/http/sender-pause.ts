import type { IncomingMessage } from 'node:http';

/** So many chunks in a row, then others get their turn: a chunk costs about the same whether it holds one byte or thousands. */
const CHUNKS_AT_A_TIME = 256;

/**
 * Holds the sender of a body back: nothing more is read from the connection, and TCP makes the sender wait. Node's own
 * `pause` does not do, since Node asks for more after each chunk.
 */
export class SenderPause {
  private readonly readOn: () => void;
  private isPaused = false;
  private isOthersTurn = false;
  private chunks = 0;

  /** @param mustWait whether the sender has to wait for a reason of its own */
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

  /** To be called after each chunk. */
  afterChunk(): void {
    this.chunks += 1;
    if (this.chunks % CHUNKS_AT_A_TIME === 0) this.letOthersHaveTheirTurn();
    else if (this.isOthersTurn || this.mustWait()) this.pause();
  }

  /** Reads on, unless there still is a reason to wait. */
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
