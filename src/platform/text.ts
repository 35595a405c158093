/** Replaces NUL and unpaired surrogates: PostgreSQL cannot store them, and no response or log should contain them. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

const LONGEST_NAME = 100;

export function shownName(name: string): string {
  return shownStart(name, LONGEST_NAME);
}

/** Returns the beginning of a text from a request. The result can be stored even if the cut splits a character. */
export function shownStart(text: string, length: number): string {
  return storable(text.slice(0, length));
}

/** Controls except line breaks and tabs, direction controls, line separators, tags and zero-width characters. */
const UNSEEN =
  /(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu;

/** Replaces invisible characters, which could change the look of the text, by marks such as `⟦U+202E⟧`. */
export function visibleStart(text: string, length: number): string {
  const visible = shownStart(text, length).replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
  return shownStart(visible, length);
}

/** Combining marks, and the two half-width signs that NFKC converts to marks. */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`;
/** Maximum combining marks on one letter. No script uses more marks. */
const MOST_MARKS = 8;
const TOO_MANY_MARKS = new RegExp(`(${MARK}{${MOST_MARKS}})${MARK}+`, 'gu');

/** Keeps only the first marks of a letter, because NFKC takes quadratic time to sort the marks. */
export function nfkc(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1').normalize('NFKC');
}

/** Portable pattern for the OpenAPI document: text without NUL that is not blank. */
export const SAYS_SOMETHING = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
