import { SUBJECT } from './title-keys.js';
import { type Detail, MOST_OTHERS, OTHERS } from './title-recipes.js';
import { shortened } from './title-text.js';
import { firstText, type Roots, type Spots } from './title-values.js';

export const LONGEST_DETAIL = 60;
/** Of a value before it is cut: the words of a tool may have it whole, and the address stands at the end of a mailbox. */
const LONGEST_VALUE = 400;

/** What is told behind a title: what its recipe finds, else what tells incidents of other types apart. */
export function factsBehind(title: string, details: readonly Detail[], roots: Roots): string {
  const found = new Facts(title, roots);
  for (const detail of details) found.add(detail);
  if (found.known > 0) return found.words;
  for (const detail of OTHERS) {
    if (found.known < MOST_OTHERS && !details.includes(detail)) found.add(detail);
  }
  return found.words;
}

/** What the raw data tells beyond the words of a title. */
class Facts {
  words = '';
  /** How many there are, with those that stand in the title already. */
  known = 0;
  /** Where something was found. */
  private readonly found = new Set<Spots>();

  constructor(
    private readonly title: string,
    private readonly roots: Roots,
  ) {}

  add(detail: Detail): void {
    const { before, places, after = '', isMailbox, isBeside, most, shape, without } = detail;
    if (without && this.found.has(without)) return;
    const text = firstText(this.roots, places, LONGEST_VALUE);
    if (text === undefined || (shape && !shape.test(text))) return;
    this.found.add(places);
    if (!isBeside) this.known += 1;
    const value = valueOf(detail, text);
    const told = (isMailbox ? this.withoutSubject() : this.title) + this.words;
    // Many a rule names the host or the user itself.
    if (most ? told.includes(value) : hasWord(told, value)) return;
    this.words += `${before}${shortened(value, LONGEST_DETAIL)}${after}`;
  }

  /** What a mail says of its sender is no reason to leave the sender out. */
  private withoutSubject(): string {
    const subject = firstText(this.roots, SUBJECT, LONGEST_VALUE);
    const words = this.title.replace(/"[^"]*"/, ' ');
    return subject ? words.replaceAll(subject, ' ') : words;
  }
}

function valueOf({ isMailbox, isPath, isQuoted, most }: Detail, text: string): string {
  const value = isMailbox
    ? addressOf(text)
    : isPath
      ? fileName(text)
      : isQuoted
        ? withoutQuotes(text)
        : text;
  return value.slice(0, most);
}

/** Anybody may choose any name to stand before the address, as in `The CEO <someone@example.net>`. */
function addressOf(mailbox: string): string {
  const address = mailbox.endsWith('>') ? mailbox.slice(mailbox.lastIndexOf('<') + 1, -1) : '';
  return address.includes('@') ? address : mailbox;
}

const fileName = (path: string): string => path.split(/[\\/]/).findLast(Boolean) ?? path;

/** Not as a part of a longer word: `RU` is not in `TRUST`. */
function hasWord(text: string, word: string): boolean {
  const [all, sought] = [text.toLowerCase(), word.toLowerCase()];
  const start = all.indexOf(sought);
  const neighbours = [all[start - 1], all[start + sought.length]];
  return start >= 0 && !neighbours.some((one) => one !== undefined && LETTER.test(one));
}

const LETTER = /[\p{L}\p{N}]/u;

/** Who wrote the words cannot end the quotes around them. */
const withoutQuotes = (words: string): string => words.replaceAll('"', "'");
export const inQuotes = (words: string): string => `"${withoutQuotes(words)}"`;
