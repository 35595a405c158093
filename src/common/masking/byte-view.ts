/** A text as UTF-8, or what it decodes to; each byte knows which characters of the text it stands for. */
export interface ByteView {
  readonly bytes: Uint8Array;
  /** Of each byte: its first character, and the one after its last. */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  /** Guessed at: most of it is noise unless the text really was base64 or hex. */
  readonly guessed: boolean;
}

/** Stands between two runs of a decoded text, so that nothing is found across them. */
export const GAP = 0;

export function viewOf(text: string): ByteView {
  const builder = new ViewBuilder(3 * text.length, false);
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at)!;
    const next = at + (code > 0xffff ? 2 : 1);
    builder.character(code, at, next);
    at = next;
  }
  return builder.view;
}

export class ViewBuilder {
  private readonly bytes: Uint8Array;
  private readonly from: Uint32Array;
  private readonly to: Uint32Array;
  private length = 0;

  constructor(
    most: number,
    private readonly guessed: boolean,
  ) {
    this.bytes = new Uint8Array(most);
    this.from = new Uint32Array(most);
    this.to = new Uint32Array(most);
  }

  byte(value: number, from: number, to: number): void {
    this.bytes[this.length] = value;
    this.from[this.length] = from;
    this.to[this.length] = to;
    this.length += 1;
  }

  /** As UTF-8; half of a surrogate pair in the same way as any other character. */
  character(code: number, from: number, to: number): void {
    if (code < 0x80) return this.byte(code, from, to);
    if (code < 0x800) this.byte(0xc0 | (code >> 6), from, to);
    else {
      if (code < 0x10000) this.byte(0xe0 | (code >> 12), from, to);
      else {
        this.byte(0xf0 | (code >> 18), from, to);
        this.byte(0x80 | ((code >> 12) & 0x3f), from, to);
      }
      this.byte(0x80 | ((code >> 6) & 0x3f), from, to);
    }
    this.byte(0x80 | (code & 0x3f), from, to);
  }

  get view(): ByteView {
    const { bytes, from, to, length, guessed } = this;
    return {
      bytes: bytes.subarray(0, length),
      from: from.subarray(0, length),
      to: to.subarray(0, length),
      guessed,
    };
  }
}
