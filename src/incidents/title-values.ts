import { titleLine } from './title-text.js';

type RawData = Readonly<Record<string, unknown>>;

/** A place in raw data: a key, or keys inside each other with dots between them. */
interface Spot {
  /** Some tools write a path as one key, such as `host.name`. */
  readonly key: string;
  readonly path: readonly string[];
}

/** Places in the order in which they count. */
export interface Spots {
  readonly all: readonly Spot[];
  /** The numbers of the places that may begin with a key. */
  readonly byKey: ReadonlyMap<string, readonly number[]>;
}

/** An object in which the places are looked for. */
interface Root {
  readonly data: RawData;
  /** Those of its keys with which a place begins: there are many places, and in an object few of them. */
  readonly keys: readonly string[];
}

export type Roots = readonly Root[];

/** Every key with which a place begins. */
const TELLING = new Set<string>();

/** Places, given by their names in snake case, in each way in which tools write them. */
export function spots(names: string): Spots {
  return spotsOf(
    names
      .trim()
      .split(/\s+/)
      .flatMap((name) => [...new Set(spellings(name))])
      .map((key) => ({ key, path: key.split('.') })),
  );
}

/** The same of several lists, one behind the other. */
export const together = (...lists: readonly Spots[]): Spots =>
  spotsOf(lists.flatMap(({ all }) => all));

function spotsOf(all: readonly Spot[]): Spots {
  const byKey = new Map<string, number[]>();
  all.forEach(({ key, path }, place) => {
    for (const first of new Set([key, path[0]!])) {
      byKey.set(first, [...(byKey.get(first) ?? []), place]);
      TELLING.add(first);
    }
  });
  return { all, byKey };
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

/** Wrappers may be wrapped. Nobody makes us look through many of them. */
const MOST_ROOTS = 24;

/** The raw data and the objects in it that wrap what it says, also those of two levels: `{"data": {"details": {"host": "WS-7"}}}`. */
export function rootsOf(rawData: RawData): Roots {
  const root = rootOf(rawData);
  const wrapped = wrappedIn(root);
  return [root, ...wrapped, ...wrapped.flatMap(wrappedIn)].slice(0, MOST_ROOTS);
}

const rootOf = (data: RawData): Root => ({
  data,
  keys: Object.keys(data).filter((key) => TELLING.has(key)),
});

const wrappedIn = (root: Root): Root[] => valuesAt([root], WRAPPERS).filter(isObject).map(rootOf);

/** The first of the places that holds something to show, as one line of at most so many characters. */
export function firstText(roots: Roots, places: Spots, most: number): string | undefined {
  for (const value of valuesAt(roots, places)) {
    const text = textOf(value, most, MOST_LEVELS);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** What is at the places: at the first of them in all objects, then at the second, and so on. */
function valuesAt(roots: Roots, { all, byKey }: Spots): unknown[] {
  const found = roots.flatMap(({ data, keys }) =>
    keys.flatMap((key) => (byKey.get(key) ?? []).map((place) => ({ place, data }))),
  );
  return found
    .sort((one, other) => one.place - other.place)
    .map(({ place, data }) => at(data, all[place]!));
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
  for (const spot of NAMES.all) {
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
