/** Replaces NUL and unpaired surrogates, which PostgreSQL cannot store and no response or log should have. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

const LONGEST_NAME = 100;

export function shownName(name: string): string {
  return shownStart(name, LONGEST_NAME);
}

/** The storable beginning of a text from a request, also if the cut splits a character. */
export function shownStart(text: string, length: number): string {
  return storable(text.slice(0, length));
}

/** Controls except line breaks and tabs, direction controls, line separators, tag and zero-width characters. */
const UNSEEN =
  /(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu;

/** Like `shownStart`, with invisible characters replaced by marks such as `⟦U+202E⟧`: they could change how the rest looks. */
export function visibleStart(text: string, length: number): string {
  const visible = shownStart(text, length).replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
  return shownStart(visible, length);
}

/** Combining marks, and the two half-width signs that NFKC converts to marks. */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`;
/** No script uses more marks on one letter. */
const MOST_MARKS = 8;
const TOO_MANY_MARKS = new RegExp(`(${MARK}{${MOST_MARKS}})${MARK}+`, 'gu');

/** NFKC. It sorts the marks of each letter in quadratic time, so only the first marks are kept. */
export function nfkc(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1').normalize('NFKC');
}

/** A portable pattern for contracts: text without NUL that is not blank. */
export const SAYS_SOMETHING = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
