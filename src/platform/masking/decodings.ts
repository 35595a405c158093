import { type ByteView, GAP, rewritten, ViewBuilder } from './byte-view.js';
import { quotedPrintableRead } from './unescape.js';

interface Alphabet {
  /** For each byte: its value as a digit, or NO_DIGIT, or SKIPPED. */
  readonly values: Int8Array;
  readonly bitsPerDigit: number;
  /** So many digits hold a whole number of bytes. At which of them the encoded text begins is not known, so each is tried. */
  readonly digitsPerTurn: number;
  /** A shorter run of digits is not decoded. */
  readonly shortestRun: number;
}

/** Bytes in a row that may be encoded. */
interface Run {
  readonly start: number;
  readonly end: number;
}

const NO_DIGIT = -1;
const SKIPPED = -2;
const PADDING = 0x3d;

/**
 * In a guessed view, only runs are decoded again that can hold a secret of six bytes. Nearly all that was guessed wrongly
 * has shorter runs, so that several levels of decoding stay cheap.
 */
const SHORTEST_BITS_WHEN_GUESSED = 6 * 8;

/** Skipped between digits: ends of lines, since long texts are broken into lines, and every second byte of UTF-16. */
const CONTROL = /[^ -~\x80-\xff]/;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The usual alphabet and that for URLs at once. */
const BASE64: Alphabet = {
  values: digits(
    [`${LETTERS}${LETTERS.toLowerCase()}0123456789+/`, `${' '.repeat(62)}-_`],
    CONTROL,
  ),
  bitsPerDigit: 6,
  digitsPerTurn: 4,
  shortestRun: 1,
};

/** Whatever is neither a letter nor a digit may stand between the bytes. */
const HEX: Alphabet = {
  values: digits(['0123456789abcdef', '0123456789ABCDEF'], /[^0-9A-Za-z\x80-\xff]/),
  bitsPerDigit: 4,
  digitsPerTurn: 2,
  shortestRun: 1,
};
const HEX_PREFIX = /0[Xx](?=[0-9A-Fa-f]{2})/g;

/** Upper case and lower case apart: together, most words would be base32. */
const [BASE32, LOWER_BASE32] = [LETTERS, LETTERS.toLowerCase()].map((letters): Alphabet => ({
  values: digits([`${letters}234567`], CONTROL),
  bitsPerDigit: 5,
  digitsPerTurn: 8,
  shortestRun: SHORTEST_BITS_WHEN_GUESSED / 5,
})) as [Alphabet, Alphabet];

/** Every view that some part of the given one may decode to, wherever the encoded text begins. */
export function* decodings(view: ByteView): Generator<ByteView> {
  yield* decodedIn(view, BASE64);
  yield* decodedIn(rewritten(view, HEX_PREFIX, () => []) ?? view, HEX);
  yield* decodedIn(view, BASE32);
  yield* decodedIn(view, LOWER_BASE32);
  const mail = quotedPrintableRead(view);
  if (mail) yield mail;
}

function* decodedIn(view: ByteView, alphabet: Alphabet): Generator<ByteView> {
  const runs = [...runsIn(view, alphabet)];
  if (runs.length === 0) return;
  for (let skip = 0; skip < alphabet.digitsPerTurn; skip += 1) {
    const found = decoded(view, runs, alphabet, skip);
    if (found.bytes.length > 0) yield found;
  }
}

function* runsIn({ bytes, guessed }: ByteView, alphabet: Alphabet): Generator<Run> {
  const { values, bitsPerDigit, shortestRun } = alphabet;
  const shortest = guessed ? SHORTEST_BITS_WHEN_GUESSED / bitsPerDigit : shortestRun;
  let start = 0;
  let count = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    const value = at < bytes.length ? values[bytes[at]!]! : NO_DIGIT;
    if (value >= 0) count += 1;
    if (value !== NO_DIGIT) continue;
    const long = count >= shortest || (count >= shortestRun && isWhole(bytes, start, at));
    if (count > 0 && long) yield { start, end: at };
    start = at + 1;
    count = 0;
  }
}

/** The run is all that was decoded there, but for the padding of base64. Then it is decoded again although it is short. */
function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  const [before = GAP, after = GAP] = [bytes[start - 1], bytes[end]];
  return before === GAP && (after === GAP || after === PADDING);
}

/** @param skip how many digits of each run are left out at its beginning */
function decoded(
  { bytes, from, to }: ByteView,
  runs: readonly Run[],
  { values, bitsPerDigit }: Alphabet,
  skip: number,
): ByteView {
  const most = runs.reduce(
    (sum, { start, end }) => sum + ((end - start) * bitsPerDigit) / 8 + 1,
    0,
  );
  const builder = new ViewBuilder(Math.ceil(most), true);
  for (const { start: first, end } of runs) {
    let skipped = 0;
    let held = 0;
    let bits = 0;
    /** The character from which the first bit came that is held. */
    let start = 0;
    let hasBytes = false;
    for (let at = first; at < end; at += 1) {
      const value = values[bytes[at]!]!;
      if (value === SKIPPED) continue;
      if (skipped < skip) {
        skipped += 1;
        continue;
      }
      if (bits === 0) start = from[at]!;
      held = ((held << bitsPerDigit) | value) & 0xffff;
      bits += bitsPerDigit;
      if (bits < 8) continue;
      bits -= 8;
      hasBytes = true;
      builder.byte((held >> bits) & 0xff, start, to[at]!);
      start = from[at]!;
    }
    if (hasBytes) builder.byte(GAP, to[end - 1]!, to[end - 1]!);
  }
  return builder.view;
}

/** @param alphabets the position of a letter in one of them is its value; a space stands for no letter */
function digits(alphabets: readonly string[], skipped: RegExp): Int8Array {
  const values = Int8Array.from({ length: 256 }, (_, byte) =>
    skipped.test(String.fromCharCode(byte)) ? SKIPPED : NO_DIGIT,
  );
  for (const alphabet of alphabets) {
    [...alphabet].forEach((letter, value) => {
      if (letter !== ' ') values[letter.charCodeAt(0)] = value;
    });
  }
  return values;
}
