import { storable } from '../text.js';
import { type ByteView, rewritten, viewOf } from './byte-view.js';
import { decodings } from './decodings.js';
import { SecretSearch } from './secret-search.js';
import { unescaped } from './unescape.js';

const MASK = '[secret]';
/** Half of a surrogate pair, put between texts: no well-formed text holds one, and no secret is found across it. */
const SEPARATOR = '\ud800';
/** So many encodings on top of each other are decoded, such as base64 of hex. */
const MOST_ENCODINGS = 3;
/** And so many levels of escapes, such as JSON in JSON. */
const MOST_ESCAPES = 3;
/** No escape of one character is longer. */
const LONGEST_ESCAPE = 12;
/** So much is read beyond what is shown. It holds a long beginning of a secret in all encodings on top of each other. */
const READ_AHEAD = 1_024;

/**
 * Masks secrets in a text of somebody who knows them, in every form from which a reader could get them back: as they are;
 * in another case, spacing or width; escaped for addresses, JSON, JavaScript, C, HTML or mail; in base64, base32 or hex,
 * also in UTF-16, also inside a longer text that was encoded as a whole. Encoded text is decoded first and then searched,
 * because a list of spellings to search for would never be complete. A secret of fewer than six characters is masked only
 * where it stands alone. When a longer one was cut short, a long beginning of it is masked.
 */
export class SecretMask {
  /** Built when it is first needed: most connectors never get an answer that has to be shown. */
  private search: SecretSearch | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Masks many texts at once, which costs no more than one text that is as long as all of them. */
  maskAll(texts: readonly string[]): string[] {
    const wellFormed = texts.map((text) => text.toWellFormed());
    return this.mask(wellFormed.join(SEPARATOR)).split(SEPARATOR).map(storable);
  }

  /**
   * The first `length` characters. A secret that is cut at the end of them is masked as well, because what follows them is
   * read, too. Masked by its first letters alone it would confirm them to whoever placed a guess at the cut.
   */
  maskStart(text: string, length: number): string {
    this.search ??= new SecretSearch([...formsOf(this.secrets)]);
    const seen = text.slice(0, length + READ_AHEAD);
    const until = seen.length < text.length ? seen.length - LONGEST_ESCAPE : seen.length;
    /** For each character: how many more of the secrets found begin than end there. */
    const edges = new Int32Array(seen.length + 1);
    let isAnyFound = false;
    for (const view of readings(viewOf(seen), MOST_ENCODINGS)) {
      this.search.scan(view, until, (first, last) => {
        isAnyFound = true;
        edges[view.from[first]!]! += 1;
        edges[view.to[last]!]! -= 1;
      });
    }
    const start = seen.slice(0, length);
    return isAnyFound ? withoutMarked(start, edges) : start;
  }
}

function withoutMarked(text: string, edges: Int32Array): string {
  const parts: string[] = [];
  let open = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const before = open;
    open += edges[at]!;
    if (before === 0 && open > 0) parts.push(text.slice(start, at), MASK);
    if (open > 0) start = at + 1;
  }
  return parts.join('') + text.slice(start);
}

function* readings(text: ByteView, depth: number): Generator<ByteView> {
  for (const view of withEscapesRead(text)) {
    yield view;
    if (depth === 0) continue;
    for (const one of decodings(view)) yield* readings(one, depth - 1);
  }
}

function* withEscapesRead(text: ByteView): Generator<ByteView> {
  let read: ByteView | undefined = text;
  for (let turn = 0; read && turn <= MOST_ESCAPES; turn += 1) {
    const view = withPlainLetters(read);
    yield view;
    read = unescaped(view);
  }
}

/** What is searched for: each secret as it is, with the escapes read that it happens to hold, and the parts of a Basic header. */
function* formsOf(secrets: readonly string[]): Generator<Uint8Array> {
  for (const secret of new Set(secrets.flatMap((one) => [one, ...basicParts(one)]))) {
    for (const { bytes } of withEscapesRead(viewOf(secret))) yield bytes;
    yield* inLatin1(secret);
  }
}

/** In Latin-1. UTF-16 is the same with zero bytes between, which the search skips. It knows upper and lower case of ASCII alone. */
function inLatin1(secret: string): Uint8Array[] {
  return /[\x80-\xff]/.test(secret)
    ? [secret, secret.toLowerCase(), secret.toUpperCase()].map((one) => Buffer.from(one, 'latin1'))
    : [];
}

/** User and password, when a secret is the two of them in base64. */
function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  const [, user, password] = /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair) ?? [];
  return user === undefined || password === undefined ? [] : [pair, user, password];
}

const BEYOND_ASCII = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

/** Accents, and what nobody sees: characters without width, control characters, and the one that replaces what is unreadable. */
const LEFT_OUT = /[\p{Mn}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\ufffd]/gu;

/**
 * The text as a reader sees it: full-width letters become ordinary ones, accents and invisible characters are left out, so
 * that a letter is the same however it is composed. The case of ASCII letters stays, because base64 needs it.
 */
export function withPlainLetters(view: ByteView): ByteView {
  const known = new Map<string, readonly number[]>();
  const plain = (bytes: string): readonly number[] => {
    const meant = known.get(bytes) ?? plainBytes(Buffer.from(bytes, 'latin1').toString());
    known.set(bytes, meant);
    return meant;
  };
  return rewritten(view, BEYOND_ASCII, ([bytes]) => plain(bytes)) ?? view;
}

function plainBytes(character: string): readonly number[] {
  const letters = [...character.normalize('NFKD').replace(LEFT_OUT, '')];
  return [...Buffer.from(letters.map((one) => (one < '\x80' ? one : caseFolded(one))).join(''))];
}

/** Through upper case first: `ß` and `ss` are the same there. */
function caseFolded(one: string): string {
  return one.toUpperCase().toLowerCase();
}
