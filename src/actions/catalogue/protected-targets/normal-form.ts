import { domainToUnicode } from 'node:url';

/** What nobody sees: control characters, zero-width ones, and those that turn the direction of writing. */
const FORMAT_CHARACTER = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const ALL_FORMAT_CHARACTERS = new RegExp(FORMAT_CHARACTER, 'gu');

const IDEOGRAPHIC_FULL_STOP = '\u3002';
const ENCODED_LABEL = /^xn--[a-z0-9-]+$/;

/**
 * The one form in which two spellings of a name meet, of a target and of a pattern alike: compatibility forms are the
 * same letters, every full stop is a dot, an encoded label (`xn--…`) is what it stands for, case does not count, nor do
 * dots and spaces at the end. It is written in capitals, since those alone take `ß` for `ss`.
 */
export function normalForm(text: string): string {
  const plain = text.normalize('NFKC').replaceAll(IDEOGRAPHIC_FULL_STOP, '.').toLowerCase();
  const labels = withoutEnd(plain.trimStart()).split(/([.@\\])/);
  return labels.map(decoded).join('').toUpperCase();
}

export function hasFormatCharacter(text: string): boolean {
  return FORMAT_CHARACTER.test(text);
}

/** In quotation marks and on one line, with what nobody sees made visible. */
export function visible(text: string): string {
  const escape = (character: string): string =>
    `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`;
  return JSON.stringify(text).replace(ALL_FORMAT_CHARACTERS, escape);
}

function decoded(label: string): string {
  return ENCODED_LABEL.test(label) ? domainToUnicode(label) || label : label;
}

/** Not a regular expression: those try again from every dot of a long row. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
