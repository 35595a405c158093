import { titleLine } from './title-text.js';

type RawData = Readonly<Record<string, unknown>>;

/** A place in raw data: a key, or keys inside each other with dots between them. */
interface Spot {
  /** Some tools write a path as one key, such as `host.name`. */
  readonly key: string;
  readonly path: readonly string[];
}

export type Spots = readonly Spot[];

/** The objects in which the places are looked for. */
export type Roots = readonly RawData[];

/** Places, given by their names in snake case, in each way in which tools write them. */
export function spots(names: string): Spots {
  return names
    .trim()
    .split(/\s+/)
    .flatMap((name) => [...new Set(spellings(name))])
    .map((key) => ({ key, path: key.split('.') }));
}

/** `source_ip` is also written as `sourceIp`, `sourceIP`, `SourceIp` and `SourceIP`. */
function spellings(name: string): string[] {
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const pascal = camel.replace(/(?:^|\.)[a-z]/g, (letter) => letter.toUpperCase());
  const loud = (word: string) => word.replace(/Ip(?![a-z])/, 'IP');
  return [name, camel, loud(camel), pascal, loud(pascal)];
}

/** Objects in which tools wrap what they have to say. */
const WRAPPERS = spots(`data event alert result detail details properties attributes payload email
  mail message headers labels annotations`);

/** By which an object, such as `{"user": {"name": "ada"}}`, is called. */
const NAMES = spots(`email email_address name display_name user_name hostname title signature
  address rule_name threat_name description path ip id uid value`);

/** The raw data and the objects in it that wrap what it says. */
export function rootsOf(rawData: RawData): Roots {
  const wrapped = WRAPPERS.map((spot) => at(rawData, spot)).filter(isObject);
  return [rawData, ...wrapped];
}

/** The first of the places that holds something to show, as one line of at most so many characters. */
export function firstText(roots: Roots, places: Spots, most: number): string | undefined {
  for (const spot of places) {
    for (const root of roots) {
      const text = textOf(at(root, spot), most, MOST_LEVELS);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

function at(root: RawData, { key, path }: Spot): unknown {
  if (Object.hasOwn(root, key)) return root[key];
  if (path.length === 1) return undefined;
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    root,
  );
}

function isObject(value: unknown): value is RawData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list speaks by its first item, an object by its name: `{"from": [{"emailAddress": {"address": "a@example.com"}}]}`. */
const MOST_LEVELS = 3;

function textOf(value: unknown, most: number, levels: number): string | undefined {
  if (typeof value === 'string') return toldBy(value, most);
  if (typeof value === 'number') return String(value);
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return textOf(value[0], most, levels - 1);
  if (!isObject(value)) return undefined;
  for (const spot of NAMES) {
    const text = textOf(at(value, spot), most, levels - 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** What tools write where they know nothing. */
const NOTHING = new Set(['-', '--', 'n/a', 'na', 'none', 'null', 'undefined', 'unknown']);

function toldBy(text: string, most: number): string | undefined {
  const line = titleLine(text, most);
  return line === undefined || NOTHING.has(line.toLowerCase()) ? undefined : line;
}
