import { rawTexts } from './raw-values.js';

/**
 * Characters that readers do not see: control characters except lines and tabs, characters without width, direction
 * controls, tag characters (from U+E0000), private and unassigned characters, and halves of surrogate pairs.
 */
const HIDDEN =
  /(?:(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}])+/gu;

/** The bracket of marks is marked itself, so that text cannot imitate a mark. */
const HIDDEN_OR_MARK = new RegExp(`${HIDDEN.source}|⟦`, 'gu');

/** Joiners and variants of emoji are visible, and so frequent that marks for them would hide other marks. */
const IN_EMOJI = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])(?:\ufe0f\u200d?|\u200d)/gu;

/** Maximum length of a text that a model sees. */
export const LONGEST_SHOWN = 4_096;

const MOST_NAMED = 3;

/** Replaces hidden characters by a mark such as `⟦U+200B×14⟧`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_OR_MARK, (run, offset: number) =>
    isInEmoji(text, run, offset) ? run : mark(run),
  );
}

/** Removes hidden characters. An emoji may fall apart into its parts. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** JSON for a model, with hidden characters as escapes, and without an end mark such as `</evidence>`. */
export const plainJson = jsonEscaping(
  /<(?=\/)|[\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu,
);

/** JSON of an answer of a tool, also without any sign of a fence. */
export const harmlessJson = jsonEscaping(/[<>\p{C}\p{Zl}\p{Zp}]/gu);

function jsonEscaping(pattern: RegExp): (value: unknown) => string {
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return (value) =>
    JSON.stringify(value).replace(pattern, (character) => character.replace(/[^]/g, escapeOf));
}

function isInEmoji(text: string, run: string, offset: number): boolean {
  if (run.length > 2 || offset === 0 || !/^[\ufe0f\u200d]/.test(run)) return false;
  // The character before may be a surrogate pair.
  const around = text.slice(Math.max(0, offset - 2), offset + run.length);
  return around.match(IN_EMOJI)?.at(-1) === run;
}

function mark(run: string): string {
  const points = [...run];
  const names = [...new Set(points)].map(codePoint);
  if (names.length > 1) return `⟦${points.length} hidden: ${listOf(names)}⟧`;
  return `⟦${names[0]}${points.length > 1 ? `×${points.length}` : ''}⟧`;
}

function listOf(names: readonly string[]): string {
  return names.slice(0, MOST_NAMED).join(' ') + (names.length > MOST_NAMED ? ' …' : '');
}

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Patterns of HTML and style sheets that hide text. HTML is not parsed. */
const MARKUP: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/<!--/, 'an HTML comment'],
  [/(?<![-\w])display\s*:\s*none/i, 'text that is not displayed (display:none)'],
  [/(?<![-\w])visibility\s*:\s*hidden/i, 'invisible text (visibility:hidden)'],
  [/(?<![-\w])mso-hide\s*:\s*all/i, 'text that is not displayed (mso-hide)'],
  [/(?<![-\w])font-size\s*:\s*0(?![.\d]*[1-9])/i, 'text of size zero'],
  [/(?<![-\w])opacity\s*:\s*0(?![.\d]*[1-9])/i, 'transparent text'],
  [/(?<![-\w])color\s*:\s*(?:#fff(?:fff)?\b|white\b|transparent\b)/i, 'white or transparent text'],
];
const LONGEST_MARKUP = 262_144;
const MOST_PLACES = 20;

export interface HiddenText {
  readonly pointer: string;
  /** Descriptions such as `14 invisible characters (U+200B)`. */
  readonly what: readonly string[];
}

/** Lists the texts of raw data that hide something from readers. */
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
  return [`${count} invisible character${count === 1 ? '' : 's'} (${listOf([...names])})`];
}

function hiddenByMarkup(text: string): string[] {
  if (!text.includes('<')) return [];
  const markup = text.slice(0, LONGEST_MARKUP);
  return MARKUP.filter(([pattern]) => pattern.test(markup)).map(([, what]) => what);
}
