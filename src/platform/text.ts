/** PostgreSQL stores no NUL and no half of a surrogate pair, and no answer or log should hold one. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

const LONGEST_NAME = 100;

/** A name that a stranger chose, as it is told back: long enough to be found again. */
export function shownName(name: string): string {
  return shownStart(name, LONGEST_NAME);
}

/** The beginning of what somebody sent, to be shown: storable, also where the cut goes through a character. */
export function shownStart(text: string, length: number): string {
  return storable(text.slice(0, length));
}

/**
 * Control characters but those of lines and tabs, what turns the direction of writing, separators of lines, tag characters, and
 * characters without width that join nothing.
 */
const UNSEEN =
  /(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu;

/** The same with a mark such as `⟦U+202E⟧` in place of what would not be seen, and would change how the rest looks. */
export function visibleStart(text: string, length: number): string {
  const visible = shownStart(text, length).replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
  return shownStart(visible, length);
}

/** Marks above and below letters, and the two half-width signs that the normal form makes marks of. */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`;
/** No script puts as many on one letter. */
const MOST_MARKS = 8;
const TOO_MANY_MARKS = new RegExp(`(${MARK}{${MOST_MARKS}})${MARK}+`, 'gu');

/**
 * Unicode's normal form NFKC, in which letters that read alike are the same. It sorts the marks of each letter in time by the
 * square of their number, so a stranger's text could stop the service for minutes: of very many marks only the first are kept.
 */
export function nfkc(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1').normalize('NFKC');
}

/** A pattern for contracts, in the words that all languages have: text without NUL that is not made of white space alone. */
export const SAYS_SOMETHING = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
