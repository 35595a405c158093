import type { IncidentFieldName } from '../../incidents/incident-fields.js';
import type { Severity } from '../../incidents/incident.js';
import { shownStart } from '../../platform/text.js';
import type { SaidSeverity } from '../reading/alert.js';
import { isList, type Json, member, numberOf, textOf } from '../reading/json.js';

/** A member that is a text by its kind, not a number: for the fields by which a format is known. */
export function wordIn(value: Json | undefined, name: string): string | undefined {
  const word = member(value, name);
  return typeof word === 'string' ? textOf(word) : undefined;
}

/** The first of these members that is a text or a number. Of a list its first item counts. */
export function textIn(value: Json | undefined, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(firstOf(member(value, name)));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The well-known fields that members of these names tell. */
export function fieldsIn(
  value: Json | undefined,
  names: Readonly<Partial<Record<IncidentFieldName, readonly string[]>>>,
): Readonly<Record<string, string>> {
  const found = Object.entries(names).flatMap(([field, members]) => {
    const text = textIn(value, ...members);
    return text === undefined ? [] : [[field, text]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

/** The severity as the first of these members says it. */
export function severityIn(
  value: Json | undefined,
  ...names: readonly string[]
): SaidSeverity | undefined {
  const said = textIn(value, ...names);
  return said === undefined ? undefined : { said };
}

/** A severity that has a word in one member and a number in another. What the number means, the format's own scale says. */
export function levelledSeverityIn(
  value: Json | undefined,
  word: string,
  number: string,
  levelOf: (number: number) => Severity | undefined,
): SaidSeverity | undefined {
  const said = textIn(value, word, number);
  if (said === undefined) return undefined;
  const amount = numberOf(member(value, number));
  return { said, number: amount, level: amount === undefined ? undefined : levelOf(amount) };
}

/** The first item of a list; of everything else the value itself. */
export function firstOf(value: Json | undefined): Json | undefined {
  return isList(value) ? value[0] : value;
}

const LONGEST_PART = 200;

/** What happened, to what, and where or to whom, in one line such as `Known Malware: git (linux-vm, alice)`. */
export function headline(
  what: string | undefined,
  detail: string | undefined,
  ...where: readonly (string | undefined)[]
): string | undefined {
  const before = [what, detail].filter((part) => part !== undefined).map(oneLine);
  if (before.length === 0) return undefined;
  const behind = where.filter((part) => part !== undefined).map(oneLine);
  const title = [...new Set(before)].join(': ');
  return behind.length === 0 ? title : `${title} (${behind.join(', ')})`;
}

function oneLine(text: string): string {
  return shownStart(text, LONGEST_PART).replace(/[\s\p{Cc}]+/gu, ' ');
}
