import { readdirSync, readFileSync } from 'node:fs';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { INCIDENT_TYPE, SEVERITIES } from '../../../src/incidents/incident.js';
import { rawDataErrors } from '../../../src/incidents/raw-data-rules.js';
import { casesIn, type EvalCase, type RawData } from './case-shape.js';

const CASES = resolve(__dirname, '../cases');
/** JSON files by part. A part is a folder, or a batch in the folder `fresh`. */
const FILES = Map.groupBy(
  readdirSync(CASES, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.json'))
    .sort(),
  (file) => file.replace('fresh/batch', 'fresh').split(/[./]/)[0]!,
);
export const PARTS: readonly string[] = [...FILES.keys()].sort();

/** More cases with the same template would measure only whether a model knows one trick. */
const MOST_OF_A_TEMPLATE = 3;

/** Returns the cases of these parts, or of all parts. Throws if the cases violate the rules of the collection. */
export function loadCases(...parts: readonly string[]): EvalCase[] {
  const cases = (parts.length > 0 ? parts : PARTS).flatMap(casesOfPart);
  const problems = problemsOf(cases);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return cases;
}

function casesOfPart(part: string): EvalCase[] {
  return FILES.get(part)!.flatMap((file) =>
    casesIn(JSON.parse(readFileSync(join(CASES, file), 'utf8')), file),
  );
}

/** Returns the violations of the rules of the collection, each with the id of its case. */
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
  // An alert has no type and no severity, because the preset sets both.
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

/** Returns values that the service would reject, and names that may belong to a real person or company. */
function problemsOfRawData(incidentType: string, rawData: RawData): string[] {
  const errors = rawDataErrors(incidentType, rawData, JSON.stringify(rawData));
  const owned = textsIn(rawData).flatMap(ownedNames);
  return [
    ...errors.map(({ message }) => message),
    ...owned.map((name) => `${name} is not reserved for examples`),
  ];
}

/** Returns all texts of a value, including its keys. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(textsIn)];
}

/** Domains that nobody can own (RFC 2606, RFC 6761). */
const RESERVED = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?$/i;

/** Addresses of documentation (RFC 5737, RFC 3849), addresses of private networks, and addresses that no host has. */
const addresses = new BlockList();
for (const [network, bits] of [
  ['192.0.2.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
] as const) {
  addresses.addSubnet(network, bits, 'ipv4');
}
addresses.addSubnet('2001:db8::', 32, 'ipv6');
addresses.addAddress('::1', 'ipv6');
addresses.addAddress('0.0.0.0', 'ipv4');

const HOST_OF_URL =
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#@]*@)?([^\s/?#:;,"'<>\\()[\]\p{Cf}]+)/giu;
/** Must follow the local part of an address, because `@odata.type` is a key of Microsoft. */
const DOMAIN_OF_MAIL = /(?<=[\p{L}\p{N}_.+-])@((?:[\p{L}\p{N}_-]+\.)+\p{L}{2,})/gu;
/** Matches hosts outside of URLs, by endings that are frequent in hosts and rare in file names. */
const BARE_HOST =
  /(?<![\p{L}\p{N}_.-])((?:[\p{L}\p{N}_-]+\.)+(?:com|net|org|info|biz|io|co|dev|app|cloud|online|site|shop|xyz|top|de|uk|fr|eu|us|ru|cn))(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/giu;
const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;
const IPV6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?!\.?[\w:])/gi;

/** Returns the hosts and addresses in a text that may belong to a real owner. */
function ownedNames(text: string): string[] {
  const found = [HOST_OF_URL, DOMAIN_OF_MAIL, BARE_HOST].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name),
  );
  const hosts = found.filter((name) => isIP(name) === 0 && !RESERVED.test(name));
  const literals = [...text.matchAll(IPV4), ...text.matchAll(IPV6)].map(([literal]) => literal);
  return [...new Set([...hosts, ...literals.filter(isOwned)])];
}

function isOwned(literal: string): boolean {
  return isIP(literal) > 0 && !addresses.check(literal, isIPv6(literal) ? 'ipv6' : 'ipv4');
}
