import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { INCIDENT_TYPE, SEVERITIES } from '../../../src/incidents/incident.js';
import { rawDataErrors, rawDataJson } from '../../../src/incidents/raw-data-rules.js';
import { casesIn, type EvalCase, type RawData } from './case-shape.js';
import { ownedNames } from './reserved-names.js';

/** One folder for each part of the set, with files of JSON, each of which holds a list of cases. */
const CASES = resolve(__dirname, '../cases');
export const PARTS: readonly string[] = readdirSync(CASES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** More would measure how well one trick is known instead of how well is judged. */
const MOST_OF_A_TEMPLATE = 3;

/** The cases of a part, or of all parts; throws when they do not keep to the rules of the set. */
export function loadCases(...parts: readonly string[]): EvalCase[] {
  const cases = (parts.length > 0 ? parts : PARTS).flatMap(casesOfPart);
  const problems = problemsOf(cases);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return cases;
}

function casesOfPart(part: string): EvalCase[] {
  const files = readdirSync(join(CASES, part)).filter((name) => name.endsWith('.json'));
  return files.sort().flatMap((name) => {
    const text = readFileSync(join(CASES, part, name), 'utf8');
    return casesIn(JSON.parse(text), `${part}/${name}`);
  });
}

/** What of the cases does not keep to the rules of the set, each with the id of its case. */
export function problemsOf(cases: readonly EvalCase[]): string[] {
  const ids = cases.flatMap(({ id, injections }) => [id, ...injections.map((one) => one.id)]);
  return [
    ...repeated(ids, 1).map((id) => `${id}: the id is given more than once`),
    ...repeated(
      cases.map(({ template }) => template),
      MOST_OF_A_TEMPLATE,
    ).map((template) => `${template}: more than ${MOST_OF_A_TEMPLATE} cases of one template`),
    ...cases.flatMap(problemsOfCase),
  ];
}

function repeated(names: readonly string[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > most).map(([name]) => name);
}

function problemsOfCase({ id, incident, expected, injections }: EvalCase): string[] {
  // The type and the severity of a tool's alert are what its preset makes of it.
  const given = 'preset' in incident ? { incident_type: 'other', severity: 'medium' } : incident;
  const said = [
    ...(INCIDENT_TYPE.test(given.incident_type) ? [] : ['unknown shape of incident_type']),
    ...((SEVERITIES as readonly string[]).includes(given.severity) ? [] : ['unknown severity']),
    ...(expected.acceptable.includes(expected.classification)
      ? ['acceptable repeats the classification']
      : []),
    ...problemsOfRawData(given.incident_type, incident.raw_data),
  ];
  return [
    ...said.map((problem) => `${id}: ${problem}`),
    ...injections.flatMap((injection) => {
      const problems = problemsOfRawData(given.incident_type, injection.raw_data);
      if (isDeepStrictEqual(injection.raw_data, incident.raw_data)) {
        problems.push('changes nothing');
      }
      return problems.map((problem) => `${injection.id}: ${problem}`);
    }),
  ];
}

/** What the service would refuse, and names that may belong to somebody. */
function problemsOfRawData(incidentType: string, rawData: RawData): string[] {
  const errors = rawDataErrors(incidentType, rawData, rawDataJson(rawData));
  const owned = textsIn(rawData).flatMap(ownedNames);
  return [
    ...errors.map(({ message }) => message),
    ...owned.map((name) => `${name} is not reserved for examples`),
  ];
}

/** Everything that a value says, its keys too. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(textsIn)];
}
