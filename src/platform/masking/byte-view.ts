/**
 * One way to read a text: its bytes in UTF-8, or the bytes that a part of it decodes to. Of each byte it is known from
 * which characters of the text it came, so that a secret that is found in the bytes can be masked in the text.
 */
export interface ByteView {
  readonly bytes: Uint8Array;
  /** For each byte: the first character that it came from, and the one after the last. */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  /** Decoded on the chance that the text was base64, base32 or hex. When it was not, the bytes mean nothing. */
  readonly guessed: boolean;
}

/** A byte between two texts, or between two decoded parts of one, so that no secret is found across them. UTF-8 has no such byte. */
export const GAP = 0xff;

/** The bytes of a text in UTF-8. Half of a surrogate pair is no character, and becomes a GAP. */
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

/** The bytes of one character, and of half of a surrogate pair as if it were one. */
export function utf8(code: number): number[] {
  if (code < 0x80) return [code];
  const last = 0x80 | (code & 0x3f);
  if (code < 0x800) return [0xc0 | (code >> 6), last];
  const third = 0x80 | ((code >> 6) & 0x3f);
  if (code < 0x10000) return [0xe0 | (code >> 12), third, last];
  return [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), third, last];
}

/**
 * The view with every match of the pattern replaced by the bytes that it stands for; undefined when nothing is replaced.
 *
 * @param pattern of bytes, as a text in Latin-1
 * @param meaning the bytes that a match stands for; undefined when it stands for itself
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
