import { factsBehind, inQuotes, LONGEST_DETAIL } from './title-facts.js';
import { SUBJECT } from './title-keys.js';
import { fileLast, recipeFor } from './title-recipes.js';
import { LONGEST_TITLE, shortened, titleLine } from './title-text.js';
import { firstText, rootsOf, type Spots } from './title-values.js';

const LONGEST_WHAT = 100;

/**
 * One line that tells the incident apart in a list: what happened, and to whom or where, such as
 * `Malware: Emotet in invoice.exe on FIN-LT-204`. Never empty. Its work is bounded, whatever the raw data is.
 */
export function incidentTitle(
  incidentType: string,
  rawData: Readonly<Record<string, unknown>>,
  source: string,
): string {
  const roots = rootsOf(rawData);
  const { quoted, what: places, details } = recipeFor(incidentType);
  const textAt = (spots: Spots) => firstText(roots, spots, LONGEST_WHAT);
  const quotedAt = (spots: Spots) => {
    const text = textAt(spots);
    return text && inQuotes(text);
  };
  const what = (quoted && quotedAt(quoted)) ?? textAt(places) ?? quotedAt(SUBJECT);
  const begun = beginning(incidentType, what);
  const facts = factsBehind(begun, details, roots);
  if (!what && facts === '') return titleWithoutDetails(incidentType, source);
  return shortened(begun + facts, LONGEST_TITLE);
}

/**
 * The words of a tool, and behind them the facts that they leave out: thirty alerts of one rule would be thirty lines that
 * look alike. Undefined when there is nothing to see in the words.
 */
export function titleOfTool(
  incidentType: string,
  words: string,
  rawData: Readonly<Record<string, unknown>>,
): string | undefined {
  const said = titleLine(words)?.replace(/(?<=\w)\.$/, '');
  if (said === undefined) return undefined;
  const facts = factsBehind(said, fileLast(recipeFor(incidentType)), rootsOf(rawData));
  const room = Math.max(LONGEST_TITLE - facts.length, LONGEST_WHAT);
  return shortened(shortened(said, room) + facts, LONGEST_TITLE);
}

/** For an incident of which nothing more is known, such as `Phishing from email-gateway`. */
export function titleWithoutDetails(incidentType: string, source: string): string {
  const where = titleLine(source, LONGEST_DETAIL);
  return where ? `${label(incidentType)} from ${where}` : label(incidentType);
}

function beginning(incidentType: string, what: string | undefined): string {
  const kind = label(incidentType);
  if (!what) return kind;
  const says = incidentType === 'other' || what.toLowerCase().startsWith(kind.toLowerCase());
  return says ? what : `${kind}: ${what}`;
}

const LABELS: ReadonlyMap<string, string> = new Map([
  ['bec', 'BEC'],
  ['other', 'Incident'],
]);

function label(incidentType: string): string {
  const words = incidentType.replaceAll('_', ' ').trimEnd();
  return LABELS.get(incidentType) ?? words.charAt(0).toUpperCase() + words.slice(1);
}
