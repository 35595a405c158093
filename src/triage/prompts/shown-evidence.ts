import { hiddenCharacters, LONGEST_SHOWN, visibleText } from '../evidence/visible-text.js';
import { type RawValue, rawValues } from '../evidence/raw-values.js';
import type { TriageCase } from '../model/triage-model.port.js';
import { plainJson } from './plain-json.js';

const MOST_BYTES = 64 * 1024;
const MOST_INDICATOR_BYTES = 16 * 1024;
const LIMITS = { values: 5_000, items: 50, levels: 16 };
/** Texts are shown up to the first length. Where all together are too much, long ones are cut more, before any is left out. */
const LENGTHS = [LONGEST_SHOWN, 1_024, 256, 64];
const MOST_POINTERS = 3;
const MOST_NAMED_CUTS = 50;

export interface ShownEvidence {
  /** One JSON object, a member on each line. */
  readonly json: string;
  /** Pointers to what is not shown, or not whole. */
  readonly cut: readonly string[];
}

/**
 * What a model is shown of a case. Raw data is listed by JSON pointer rather than nested, so that a pointer can be copied from
 * its line, and what is left out moves no other.
 */
export function shownEvidence(given: TriageCase): ShownEvidence {
  const { values, cut } = rawValues(given.rawData, LIMITS);
  const shown = withinBudget(values);
  const indicators = upTo(MOST_INDICATOR_BYTES, given.indicators.map(indicatorLine));
  const allCut = [...new Set([...cut, ...shown.cut])];
  const parts = [
    `"incident_type": ${encoded(given.incidentType)}`,
    `"severity": ${encoded(given.severity)}`,
    `"reported_by": ${encoded(given.source)}`,
    `"title": ${encoded(given.title)}`,
    `"fields": ${block('{', withinBudget(rawValues(given.fields, LIMITS).values).lines, '}')}`,
    `"raw_data": ${block('{', shown.lines, '}')}`,
    `"indicators": ${block('[', indicators, ']')}`,
    `"hidden": ${block('[', hiddenCharacters(given.rawData).map(plainJson), ']')}`,
    `"not_shown": ${block('[', allCut.slice(0, MOST_NAMED_CUTS).map(plainJson), ']')}`,
    `"not_shown_in_all": ${allCut.length + given.indicators.length - indicators.length}`,
  ];
  return { json: `{\n${parts.join(',\n')}\n}`, cut: allCut };
}

interface Lines {
  readonly lines: readonly string[];
  readonly cut: readonly string[];
}

function withinBudget(values: readonly RawValue[]): Lines {
  const first = linesOf(values, LENGTHS[0]!);
  if (bytesOf(first.lines) <= MOST_BYTES) return first;
  const shorter = LENGTHS.slice(1).map((longest) => linesOf(values, longest));
  const fitting = shorter.find(({ lines }) => bytesOf(lines) <= MOST_BYTES);
  if (fitting) return fitting;
  const { lines, cut } = shorter.at(-1)!;
  const kept = upTo(MOST_BYTES, lines);
  return { lines: kept, cut: [...cut, ...values.slice(kept.length).map(({ pointer }) => pointer)] };
}

function linesOf(values: readonly RawValue[], longest: number): Lines {
  const cut: string[] = [];
  const lines = values.map(({ pointer, value }) => {
    if (typeof value !== 'string') return `${plainJson(pointer)}: ${value}`;
    const text = visibleText(startOf(value, longest));
    const isCut = value.length > longest || text.length > longest;
    if (isCut) cut.push(pointer);
    const rest = isCut ? ` ⟦cut: ${value.length} characters in all⟧` : '';
    return `${plainJson(pointer)}: ${plainJson(startOf(text, longest) + rest)}`;
  });
  return { lines, cut };
}

/** Not through the middle of a character: its half would look like a hidden one. */
function startOf(text: string, length: number): string {
  const isHalf = text.length > length && /[\ud800-\udbff]/.test(text[length - 1]!);
  return text.slice(0, isHalf ? length - 1 : length);
}

function indicatorLine({ id, type, value, pointers }: TriageCase['indicators'][number]): string {
  return plainJson({ id, type, value, pointers: pointers.slice(0, MOST_POINTERS) });
}

function upTo(bytes: number, lines: readonly string[]): string[] {
  let left = bytes;
  return lines.filter((line) => {
    left = left < 0 ? left : left - Buffer.byteLength(line);
    return left >= 0;
  });
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
}

function block(open: string, lines: readonly string[], close: string): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${close}`;
}

function encoded(text: string): string {
  return plainJson(visibleText(text));
}
