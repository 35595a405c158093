import { storable } from '../text.js';
import { type ByteView, rewritten, viewOf } from './byte-view.js';
import { decodings } from './decodings.js';
import { SecretSearch } from './secret-search.js';
import { unescaped } from './unescape.js';

const MASK = '[secret]';
/** Half of a surrogate pair: no well-formed text holds one, and nothing is found across it. */
const BETWEEN = '\ud800';
/** How many encodings on top of each other are read: base64 of a form, for instance, or a JSON text in a JSON text. */
const DEPTH = 3;
const ESCAPES_DEPTH = 3;
/** No escape of one character is longer. */
const LONGEST_ESCAPE = 12;

/**
 * Takes secrets out of what somebody says who knows them, in every form in which a reader could get them back: as they
 * are, in another case, spacing or width, escaped for addresses, JSON, JavaScript, C, HTML or mail, in base64, base32 or
 * hex, also in UTF-16, also within a longer text that was encoded. What was encoded is decoded for it, so that no list of
 * spellings has to be complete. A secret of fewer than six characters is taken out where it stands alone; of a longer one
 * that was cut short, a long beginning.
 */
export class SecretMask {
  /** Made when there is something to mask: most connectors never are told anything. */
  private search: SecretSearch | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Many at once, which costs no more than one that is as long as all of them. */
  maskAll(texts: readonly string[]): string[] {
    const wellFormed = texts.map((text) => text.toWellFormed());
    return this.mask(wellFormed.join(BETWEEN)).split(BETWEEN).map(storable);
  }

  /** The beginning of a text, without the beginning of a secret that the cut goes through. */
  maskStart(text: string, length: number): string {
    this.search ??= new SecretSearch([...formsOf(this.secrets)]);
    const until = Math.min(length, text.length);
    const seen = text.slice(0, length + LONGEST_ESCAPE);
    /** Of each character: how many more finds begin than end there. */
    const edges = new Int32Array(seen.length + 1);
    let any = false;
    for (const view of viewsIn(viewOf(seen), DEPTH)) {
      this.search.scan(view, until, (first, last) => {
        any = true;
        edges[view.from[first]!]! += 1;
        edges[view.to[last]!]! -= 1;
      });
    }
    const start = seen.slice(0, until);
    return any ? withoutMarked(start, edges) : start;
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

function* viewsIn(text: ByteView, depth: number): Generator<ByteView> {
  for (const view of escapesRead(text)) {
    yield view;
    if (depth === 0) continue;
    for (const one of decodings(view)) yield* viewsIn(one, depth - 1);
  }
}

function* escapesRead(text: ByteView): Generator<ByteView> {
  let read: ByteView | undefined = text;
  for (let turn = 0; read && turn <= ESCAPES_DEPTH; turn += 1) {
    const view = withPlainLetters(read);
    yield view;
    read = unescaped(view);
  }
}

/** As they are; with the escapes read that they happen to hold; and what a Basic header has in base64. */
function* formsOf(secrets: readonly string[]): Generator<Uint8Array> {
  for (const secret of new Set(secrets.flatMap((one) => [one, ...basicParts(one)]))) {
    for (const { bytes } of escapesRead(viewOf(secret))) yield bytes;
    yield* inLatin1(secret);
  }
}

/** UTF-16 is the same, but for bytes that are zero. The search itself knows upper and lower case of ASCII alone. */
function inLatin1(secret: string): Uint8Array[] {
  return /[\x80-\xff]/.test(secret)
    ? [secret, secret.toLowerCase(), secret.toUpperCase()].map((one) => Buffer.from(one, 'latin1'))
    : [];
}

/** User and password, where a secret is both of them in base64. */
function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  const [, user, password] = /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair) ?? [];
  return user === undefined || password === undefined ? [] : [pair, user, password];
}

const BEYOND_ASCII = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

/** Accents, and what is not seen: of no width, control characters, and what stands for something unreadable. */
const LEFT_OUT = /[\p{Mn}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\ufffd]/gu;

/**
 * What a character beyond ASCII looks like to a reader: full-width and other letters of compatibility as the ordinary
 * ones, no accents, nothing that is not seen. So a letter is the same however it is composed. The case of ASCII stays,
 * because base64 needs it.
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

/** By way of upper case, so that both spellings of what has only one there are the same. */
function caseFolded(one: string): string {
  return one.toUpperCase().toLowerCase();
}
