import { type ByteView, GAP, ViewBuilder } from './byte-view.js';

interface Alphabet {
  /** Of each byte: the value of the digit that it is, or one of the two below. */
  readonly values: Int8Array;
  readonly bitsPerDigit: number;
  /** How many digits in turn a whole number of bytes takes: where a text begins among them is not known. */
  readonly digitsPerTurn: number;
}

const NO_DIGIT = -1;
const SKIPPED = -2;

/** Both of the usual alphabets at once. Long texts are broken into lines. */
const BASE64: Alphabet = {
  values: digits('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', {
    '-': 62,
    _: 63,
    '\r': SKIPPED,
    '\n': SKIPPED,
  }),
  bitsPerDigit: 6,
  digitsPerTurn: 4,
};

const HEX: Alphabet = {
  values: digits('0123456789abcdef', {
    ...Object.fromEntries([...'ABCDEF'].map((letter, index) => [letter, 10 + index])),
    ':': SKIPPED,
    ' ': SKIPPED,
    '\r': SKIPPED,
    '\n': SKIPPED,
  }),
  bitsPerDigit: 4,
  digitsPerTurn: 2,
};

/** What everything in it that may be base64 or hex decodes to, wherever it begins. */
export function* decodings(view: ByteView): Generator<ByteView> {
  for (const alphabet of [BASE64, HEX]) {
    for (let skip = 0; skip < alphabet.digitsPerTurn; skip += 1) {
      const found = decoded(view, alphabet, skip);
      if (found.bytes.length > 0) yield found;
    }
  }
}

/** @param skip how many digits of each run are left out at its beginning */
function decoded({ bytes, from, to }: ByteView, alphabet: Alphabet, skip: number): ByteView {
  const { values, bitsPerDigit } = alphabet;
  const builder = new ViewBuilder(bytes.length + 1, true);
  let skipped = 0;
  let held = 0;
  let bits = 0;
  /** Where the first bit that is held comes from. */
  let start = 0;
  let inRun = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const value = values[bytes[at]!]!;
    if (value === SKIPPED) continue;
    if (value === NO_DIGIT) {
      if (inRun) builder.byte(GAP, from[at]!, from[at]!);
      inRun = false;
      skipped = held = bits = 0;
      continue;
    }
    if (skipped < skip) {
      skipped += 1;
      continue;
    }
    if (bits === 0) start = from[at]!;
    held = ((held << bitsPerDigit) | value) & 0xffff;
    bits += bitsPerDigit;
    if (bits < 8) continue;
    bits -= 8;
    inRun = true;
    builder.byte((held >> bits) & 0xff, start, to[at]!);
    start = from[at]!;
  }
  return builder.view;
}

function digits(alphabet: string, more: Readonly<Record<string, number>>): Int8Array {
  const values = new Int8Array(256).fill(NO_DIGIT);
  [...alphabet].forEach((letter, value) => (values[letter.charCodeAt(0)] = value));
  for (const [letter, value] of Object.entries(more)) values[letter.charCodeAt(0)] = value;
  return values;
}
