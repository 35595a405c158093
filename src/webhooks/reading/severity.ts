import { SEVERITIES, type Severity } from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import type { SeverityMapping } from '../sources/webhook-source.js';
import type { SaidSeverity } from './alert.js';
import { numberOf } from './json.js';

interface ReadSeverity {
  readonly severity: Severity;
  /** The event's word, when nobody knows what it means. The timeline tells it. */
  readonly unknownWord?: string;
}

const WORDS: ReadonlyMap<string, Severity> = new Map([
  ['informational', 'low'],
  ['info', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['moderate', 'medium'],
  ['high', 'high'],
  ['critical', 'critical'],
  ['severe', 'critical'],
]);

/** The source's mapping decides first, then the usual words, then what the format knows of its own scale. */
export function severityOf(said: SaidSeverity | undefined, mapping: SeverityMapping): ReadSeverity {
  if (!said) return { severity: 'medium' };
  const word = inSmallLetters(said.said);
  const severity = byMapping(word, said, mapping) ?? WORDS.get(word) ?? said.level;
  return severity ? { severity } : { severity: 'medium', unknownWord: shownName(said.said) };
}

function byMapping(
  word: string,
  said: SaidSeverity,
  mapping: SeverityMapping,
): Severity | undefined {
  const entries = Object.entries(mapping);
  const byWord = entries.find(([key]) => inSmallLetters(key) === word);
  if (byWord) return byWord[1];
  const number = said.number ?? numberOf(said.said);
  if (number === undefined) return undefined;
  const holding = (value: number) =>
    entries.find(([key]) => {
      const range = numberRange(key);
      return range !== undefined && isWithin(range, value);
    })?.[1];
  // Ranges are written in whole numbers: between 0-39 and 40-59, 39.5 counts as 39.
  return holding(number) ?? holding(Math.floor(number));
}

function inSmallLetters(word: string): string {
  return word.trim().toLowerCase();
}

const MOST_ENTRIES = 100;
const LONGEST_KEY = 64;
/** Numbers with signs between them: no word, and no range that would ever be found. */
const LIKE_A_RANGE = /^[\s\d.,<>=–…+-]*\d[\s\d.,<>=–…+-]*$/;

/** What is wrong with the severity mapping that an administrator gives. `field` is where it stands in the request. */
export function severityMappingProblems(
  mapping: unknown,
  field = 'severity_mapping',
): FieldError[] {
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) {
    return [{ field, code: 'is_json_object', message: `${field} must be an object.` }];
  }
  const entries: (readonly [string, unknown])[] = Object.entries(mapping);
  if (entries.length > MOST_ENTRIES) {
    const message = `${field} must have at most ${MOST_ENTRIES} entries.`;
    return [{ field, code: 'size', message }];
  }
  const keys = entries.map(([key]) => key);
  return [
    ...entries.flatMap(([key, value]) => entryProblems(`${field}.${key}`, key, value)),
    ...repeatedWords(keys, field),
    ...overlaps(keys, field),
  ];
}

function entryProblems(field: string, key: string, value: unknown): FieldError[] {
  const problems: FieldError[] = [];
  const range = numberRange(key);
  if (key.trim() === '' || key.length > LONGEST_KEY) {
    const message = `Keys of a severity mapping must have 1 to ${LONGEST_KEY} characters.`;
    problems.push({ field, code: 'length', message });
  }
  if (!range && LIKE_A_RANGE.test(key)) {
    const message = `${field} must be a word, a number, or a range such as 0-39 or 80-.`;
    problems.push({ field, code: 'matches', message });
  }
  if (range && range.from > range.to) {
    const message = `${field} must name the smaller number first.`;
    problems.push({ field, code: 'matches', message });
  }
  if (!SEVERITIES.some((severity) => severity === value)) {
    const message = `${field} must be one of: ${SEVERITIES.join(', ')}.`;
    problems.push({ field, code: 'is_in', message });
  }
  return problems;
}

function repeatedWords(keys: readonly string[], field: string): FieldError[] {
  const words = keys.map(inSmallLetters);
  return keys
    .filter((key, at) => words.indexOf(inSmallLetters(key)) < at)
    .map((key) => ({
      field: `${field}.${key}`,
      code: 'unique',
      message: `${field} names ${shownName(key)} twice: capitals do not count.`,
    }));
}

function overlaps(keys: readonly string[], field: string): FieldError[] {
  const ranges = keys
    .map((key) => ({ key, word: inSmallLetters(key), range: numberRange(key) }))
    .flatMap(({ range, ...one }) => (range && range.from <= range.to ? [{ ...one, range }] : []));
  return ranges.flatMap(({ key, word, range }, at) => {
    const other = ranges
      .slice(0, at)
      .find((o) => o.word !== word && o.range.from <= range.to && range.from <= o.range.to);
    if (!other) return [];
    const message = `${field} has numbers that are both in ${other.key} and in ${key}.`;
    return [{ field: `${field}.${key}`, code: 'unique', message }];
  });
}

/** Both ends are in it. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

const NUMBER = String.raw`\d{1,20}(?:\.\d{1,20})?`;
const RANGE = new RegExp(`^(${NUMBER})(?:\\s*(-)\\s*(${NUMBER})?)?$`);

/** Reads `0-39`, `1.5-2`, `80-` for all from 80, or `7` for that number alone. Undefined for what is none of these. */
export function numberRange(text: string): NumberRange | undefined {
  const match = RANGE.exec(text.trim());
  if (!match) return undefined;
  const [, from, dash, to] = match;
  if (dash === undefined) return { from: Number(from), to: Number(from) };
  return { from: Number(from), to: to === undefined ? Infinity : Number(to) };
}

export function isWithin({ from, to }: NumberRange, value: number): boolean {
  return from <= value && value <= to;
}
