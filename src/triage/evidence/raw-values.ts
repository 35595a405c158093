import { isIP } from 'node:net';
import { atOnce } from '../../platform/concurrency/semaphore.js';
import { pointerTo } from '../../platform/json-pointer.js';
import { isDecodedJson } from './own-places.js';

export interface RawValue {
  readonly pointer: string;
  readonly value: string | number | boolean;
  /** Key in small letters and digits. A list item has its list's name; `{"name": "Date", "value": …}` has `date`. */
  readonly name: string;
  readonly owner: string;
  /** Keys from the root, in the form of `isOwnPlace`, without list indexes. */
  readonly path: string;
  readonly list?: string;
}

export type RawText = RawValue & { readonly value: string };

/** Tools send fewer values. Reading twice as many values would block the event loop for too long. */
const LIMITS = { values: 20_000, items: 20_000, levels: 64 };
const VALUES_OF_A_PIECE = 100;

export const LONGEST_POINTER = 512;

export function rawValues(root: unknown, limits = LIMITS) {
  return atOnce(rawValuesInPieces(root, limits));
}

/** Reads JSON level by level: values near the root come first. `cut`: pointers to objects and lists with more values. */
export function* rawValuesInPieces(root: unknown, limits = LIMITS) {
  const values: RawValue[] = [];
  const cut = new Set<string>();
  let seen = 0;
  let level = [{ pointer: '', value: root, name: '', owner: '', path: '' }];
  for (let depth = 0; level.length > 0; depth += 1) {
    const below: typeof level = [];
    for (const [place, { value, ...at }] of level.entries()) {
      if (place % VALUES_OF_A_PIECE === 0) yield;
      if (isScalar(value)) values.push({ ...at, value });
      if (typeof value !== 'object' || value === null) continue;
      const members = Object.entries(value);
      const most = depth < limits.levels ? Math.min(limits.items, limits.values - seen) : 0;
      if (members.length > most) cut.add(at.pointer);
      for (const [step, member] of members.slice(0, Math.max(0, most))) {
        seen += 1;
        const pointer = pointerTo(at.pointer, step);
        if (pointer.length > LONGEST_POINTER) cut.add(at.pointer);
        else below.push({ pointer, value: member, ...namesOf(value, step, at) });
      }
    }
    level = below;
  }
  return { values, cut: [...cut] };
}

export function rawTexts(root: unknown): RawText[] {
  return rawValues(root).values.filter(isText);
}

export function isText(value: RawValue): value is RawText {
  return typeof value.value === 'string';
}

export function isScalar(value: unknown): value is RawValue['value'] {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function namesOf(
  parent: object,
  step: string,
  { pointer, name, owner, path }: Omit<RawValue, 'value'>,
) {
  if (Array.isArray(parent)) return { name, owner, path, list: pointer };
  const beside = NAMED_BESIDE.get(step)?.find((key) => Object.hasOwn(parent, key));
  const given: unknown = beside && parent[beside as keyof typeof parent];
  const own = isDecodedJson(step, parent) ? 'decoded' : plainPath(step);
  return {
    name: plainName(typeof given === 'string' ? given : step),
    owner: name,
    path: path === '' ? own : `${path}/${own}`,
  };
}

const NAMED_BESIDE: ReadonlyMap<string, readonly string[]> = new Map([
  ['value', ['name', 'key']],
  ['Value', ['Name', 'Key']],
]);

const LONGEST_PATH = 200;

/** Splits `process.code_signature`, but no address. A key without letters becomes `_`, so that it is not the root. */
function plainPath(key: string): string {
  const start = key.slice(0, LONGEST_PATH).toLowerCase();
  // The length is limited, because an IPv6 zone may be any text.
  if (/^[\da-f.:]{2,45}$/.test(start) && isIP(start) !== 0) return start;
  return start.replace(/[^\p{L}\p{N}.]/gu, '').replaceAll('.', '/') || '_';
}

const LONGEST_NAME = 64;

/** Returns one name for `File-Name` and `file_name`. Cuts the key first, because it may be as long as the raw data. */
export function plainName(key: string): string {
  const start = key.slice(0, LONGEST_NAME).toLowerCase();
  return start.replace(/[^a-z0-9]/g, '');
}
