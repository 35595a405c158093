import { rawTexts } from './raw-values.js';

/**
 * What no reader sees: control characters but those of lines and tabs, characters without width, those that turn the direction
 * of writing, the tag characters (U+E0000 and on), private and unassigned ones, and halves of pairs.
 */
const HIDDEN =
  /(?:(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}])+/gu;

/** Our own marks must not be imitated. */
const HIDDEN_OR_MARK = new RegExp(`${HIDDEN.source}|⟦`, 'gu');

/** What joins and colours emoji. They are seen, and so frequent that marks for them would hide the others. */
const IN_EMOJI = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])(?:\ufe0f\u200d?|\u200d)/gu;

/** A model is shown no more of one text. */
export const LONGEST_SHOWN = 4_096;

const MOST_NAMED = 3;

/** The text with a mark such as `⟦U+200B×14⟧` in place of hidden characters. A bracket of our own kind becomes a mark, too. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_OR_MARK, (run, offset: number) =>
    isInEmoji(text, run, offset) ? run : mark(run),
  );
}

/** The text without any of them. An emoji may fall apart into those that it is made of. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

function isInEmoji(text: string, run: string, offset: number): boolean {
  if (run.length > 2 || offset === 0 || !/^[\ufe0f\u200d]/.test(run)) return false;
  // The character before it may be a pair.
  const around = text.slice(Math.max(0, offset - 2), offset + run.length);
  const inside = around.match(IN_EMOJI);
  return inside?.at(-1) === run;
}

function mark(run: string): string {
  if (run.length === 1) return `⟦${codePoint(run)}⟧`;
  const points = [...run];
  const names = [...new Set(points)].map(codePoint);
  if (names.length === 1) {
    return `⟦${names[0]}${points.length > 1 ? `×${points.length}` : ''}⟧`;
  }
  return `⟦${points.length} hidden: ${named(names)}⟧`;
}

function named(names: readonly string[]): string {
  return names.slice(0, MOST_NAMED).join(' ') + (names.length > MOST_NAMED ? ' …' : '');
}

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Ways in which HTML and style sheets hide text from who reads a mail. Marks only: HTML is not parsed. */
const MARKUP: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/<!--/, 'an HTML comment'],
  [/(?<![-\w])display\s*:\s*none/i, 'text that is not displayed (display:none)'],
  [/(?<![-\w])visibility\s*:\s*hidden/i, 'invisible text (visibility:hidden)'],
  [/(?<![-\w])mso-hide\s*:\s*all/i, 'text that is not displayed (mso-hide)'],
  [/(?<![-\w])font-size\s*:\s*0(?![.\d]*[1-9])/i, 'text of size zero'],
  [/(?<![-\w])opacity\s*:\s*0(?![.\d]*[1-9])/i, 'transparent text'],
  [/(?<![-\w])color\s*:\s*(?:#fff(?:fff)?\b|white\b|transparent\b)/i, 'white or transparent text'],
];

/** Of HTML more than this is not looked at. */
const LONGEST_MARKUP = 262_144;

export interface HiddenText {
  readonly pointer: string;
  /** In words, such as `14 invisible characters (U+200B)`. */
  readonly what: readonly string[];
}

const MOST_PLACES = 20;

/** Where the raw data hides something from people, for the model and for people. */
export function hiddenCharacters(rawData: unknown): readonly HiddenText[] {
  const places: HiddenText[] = [];
  for (const { pointer, value } of rawTexts(rawData)) {
    const what = [...hiddenIn(value), ...hiddenByMarkup(value)];
    if (what.length > 0) places.push({ pointer, what });
    if (places.length === MOST_PLACES) break;
  }
  return places;
}

function hiddenIn(text: string): string[] {
  let count = 0;
  const names = new Set<string>();
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (isInEmoji(text, run, index)) continue;
    for (const character of run) {
      count += 1;
      if (names.size <= MOST_NAMED) names.add(codePoint(character));
    }
  }
  if (count === 0) return [];
  return [`${count} invisible character${count === 1 ? '' : 's'} (${named([...names])})`];
}

function hiddenByMarkup(text: string): string[] {
  if (!text.includes('<')) return [];
  const markup = text.slice(0, LONGEST_MARKUP);
  return MARKUP.filter(([pattern]) => pattern.test(markup)).map(([, what]) => what);
}
