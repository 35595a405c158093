/** A text as UTF-8, or what it decodes to; each byte knows which characters of the text it stands for. */
export interface ByteView {
  readonly bytes: Uint8Array;
  /** Of each byte: its first character, and the one after its last. */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  /** Guessed at: most of it is noise unless the text really was base64 or hex. */
  readonly guessed: boolean;
}

/** Stands between two texts, or two runs of a decoded one, so that nothing is found across them. UTF-8 has no such byte. */
export const GAP = 0xff;

/** Half of a surrogate pair is no character of any text: it stands between two. */
export function viewOf(text: string): ByteView {
  const builder = new ViewBuilder(text.length, false);
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at)!;
    const next = at + (code > 0xffff ? 2 : 1);
    if (code < 0x80) builder.byte(code, at, next);
    else if (code >= 0xd800 && code < 0xe000) builder.byte(GAP, at, next);
    else for (const byte of utf8(code)) builder.byte(byte, at, next);
    at = next;
  }
  return builder.view;
}

/** Also of half of a surrogate pair, in the same way as of any other character. */
export function utf8(code: number): number[] {
  if (code < 0x80) return [code];
  const last = 0x80 | (code & 0x3f);
  if (code < 0x800) return [0xc0 | (code >> 6), last];
  const third = 0x80 | ((code >> 6) & 0x3f);
  if (code < 0x10000) return [0xe0 | (code >> 12), third, last];
  return [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), third, last];
}

/**
 * The view with everything that fits the pattern replaced by the bytes that it means; undefined when nothing is.
 *
 * @param pattern of bytes, as a text in Latin-1
 * @param meaning undefined where what fits means nothing else than it is
 */
export function rewritten(
  { bytes, from, to, guessed }: ByteView,
  pattern: RegExp,
  meaning: (match: RegExpExecArray) => readonly number[] | undefined,
): ByteView | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  let builder: ViewBuilder | undefined;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const meant = meaning(match);
    if (!meant) continue;
    builder ??= new ViewBuilder(bytes.length, guessed);
    for (; at < match.index; at += 1) builder.byte(bytes[at]!, from[at]!, to[at]!);
    at = match.index + match[0].length;
    for (const byte of meant) builder.byte(byte, from[match.index]!, to[at - 1]!);
  }
  if (!builder) return undefined;
  for (; at < bytes.length; at += 1) builder.byte(bytes[at]!, from[at]!, to[at]!);
  return builder.view;
}

export class ViewBuilder {
  private bytes: Uint8Array;
  private from: Uint32Array;
  private to: Uint32Array;
  private length = 0;

  constructor(
    expected: number,
    private readonly guessed: boolean,
  ) {
    this.bytes = new Uint8Array(expected);
    this.from = new Uint32Array(expected);
    this.to = new Uint32Array(expected);
  }

  byte(value: number, from: number, to: number): void {
    if (this.length === this.bytes.length) this.grow();
    this.bytes[this.length] = value;
    this.from[this.length] = from;
    this.to[this.length] = to;
    this.length += 1;
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

  private grow(): void {
    const { bytes, from, to } = this;
    const length = 2 * this.length + 16;
    (this.bytes = new Uint8Array(length)).set(bytes);
    (this.from = new Uint32Array(length)).set(from);
    (this.to = new Uint32Array(length)).set(to);
  }
}
