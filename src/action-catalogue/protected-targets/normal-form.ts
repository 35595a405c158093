import { domainToUnicode } from 'node:url';
import { nfkc } from '../../platform/text.js';

/** Invisible characters: control characters, those without width, and those that turn the direction of writing. */
const FORMAT_CHARACTER = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const ALL_FORMAT_CHARACTERS = new RegExp(FORMAT_CHARACTER, 'gu');

const IDEOGRAPHIC_FULL_STOP = '\u3002';
const ENCODED_LABEL = /^xn--[a-z0-9-]+$/;

/**
 * The form in which targets and patterns are compared, the same for every spelling of a name: compatibility forms (NFKC)
 * are the same letters, every full stop is a dot, an encoded label (`xn--…`) is what it stands for, and neither case nor
 * dots and spaces at the end count. It is in upper case, because `ß` and `ss` are the same only there.
 */
export function normalForm(text: string): string {
  const plain = nfkc(text).replaceAll(IDEOGRAPHIC_FULL_STOP, '.').toLowerCase();
  const labels = withoutEnd(plain.trimStart()).split(/([.@\\])/);
  return labels.map(decoded).join('').toUpperCase();
}

export function hasFormatCharacter(text: string): boolean {
  return FORMAT_CHARACTER.test(text);
}

/** For a message: in quotation marks, on one line, and with invisible characters as escapes. */
export function visible(text: string): string {
  const escape = (character: string): string =>
    `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`;
  return JSON.stringify(text).replace(ALL_FORMAT_CHARACTERS, escape);
}

function decoded(label: string): string {
  return ENCODED_LABEL.test(label) ? domainToUnicode(label) || label : label;
}

/** Without dots and spaces at the end. A regular expression would start again at every dot of a long row. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
