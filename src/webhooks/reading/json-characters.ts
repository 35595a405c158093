/* The characters of JSON by their codes, for those who go through a text of a megabyte. */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const MINUS = 0x2d;
export const ZERO = 0x30;
export const OPENS_LIST = 0x5b;
export const CLOSES_LIST = 0x5d;
const OPENS_OBJECT = 0x7b;
export const CLOSES_OBJECT = 0x7d;
export const SPACE = 0x20;

export const opens = (char: number): boolean => char === OPENS_LIST || char === OPENS_OBJECT;
export const closes = (char: number): boolean => char === CLOSES_LIST || char === CLOSES_OBJECT;
export const startsNumber = (char: number): boolean =>
  char === MINUS || (char >= ZERO && char <= 0x39);

export const isExponent = (char: number): boolean => (char | SPACE) === 0x65;

/** Digits, `-`, `.`, `+`, `E` and `e`; NaN, which is behind the end of the text, is none. */
const isOfNumber = (char: number): boolean =>
  startsNumber(char) || char === 0x2e || char === 0x2b || isExponent(char);

export function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}
