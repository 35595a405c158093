import { type ByteView, rewritten } from './byte-view.js';

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
