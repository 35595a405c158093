import { pointerTo } from '../../platform/json-pointer.js';

/** A text, number or boolean somewhere in a value of JSON. */
export interface RawValue {
  readonly pointer: string;
  readonly value: string | number | boolean;
  /**
   * What it is called: its key in small letters and digits only, so that `File-Name` and `file_name` are one. An item of a
   * list is called like the list; and the value of `{"name": "Subject", "value": "..."}`, as headers are listed, like its name (or `key`).
   */
  readonly name: string;
  /** What the object around it is called. */
  readonly owner: string;
}

export type RawText = RawValue & { readonly value: string };

export interface ValueLimits {
  readonly values: number;
  readonly items: number;
  readonly levels: number;
}

/** More than tools send. To read twice as many would hold the event loop for too long. */
const WIDE: ValueLimits = { values: 20_000, items: 20_000, levels: 64 };

/** As long as the pointer of a piece of evidence may be. */
export const LONGEST_POINTER = 512;

interface Container {
  readonly pointer: string;
  readonly value: object;
  readonly name: string;
  readonly owner: string;
}

/**
 * The values of JSON that a stranger wrote, level by level, so that what is near the root comes before what is deep below. `cut`
 * points to the objects and lists of which something was left out.
 */
export function rawValues(
  root: unknown,
  limits: ValueLimits = WIDE,
): { readonly values: readonly RawValue[]; readonly cut: readonly string[] } {
  const values: RawValue[] = [];
  const cut = new Set<string>();
  let seen = 0;
  let below: Container[] = [];

  const take = (value: unknown, at: Omit<Container, 'value'>): void => {
    if (typeof value === 'object' && value !== null) below.push({ ...at, value });
    else if (isScalar(value)) values.push({ ...at, value });
  };

  take(root, { pointer: '', name: '', owner: '' });
  for (let depth = 0; below.length > 0; depth += 1) {
    const level = below;
    below = [];
    for (const container of level) {
      const steps = stepsInto(container.value);
      const most = Math.min(limits.items, depth < limits.levels ? limits.values - seen : 0);
      if (steps.length > most) cut.add(container.pointer);
      for (const step of steps.slice(0, Math.max(0, most))) {
        seen += 1;
        const pointer = pointerTo(container.pointer, step);
        if (pointer.length > LONGEST_POINTER) cut.add(container.pointer);
        else take(member(container.value, step), { pointer, ...called(container, step) });
      }
    }
  }
  return { values, cut: [...cut] };
}

/** Of the values only the texts. */
export function rawTexts(root: unknown): RawText[] {
  return rawValues(root).values.filter(isText);
}

export function isText(value: RawValue): value is RawText {
  return typeof value.value === 'string';
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function stepsInto(value: object): readonly (string | number)[] {
  return Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
}

function member(value: object, step: string | number): unknown {
  return (value as Record<string | number, unknown>)[step];
}

function called(container: Container, step: string | number): Pick<RawValue, 'name' | 'owner'> {
  if (typeof step === 'number') return { name: container.name, owner: container.owner };
  const beside = BESIDE.get(step)?.find((key) => Object.hasOwn(container.value, key));
  const name = beside === undefined ? step : member(container.value, beside);
  return { name: plainName(typeof name === 'string' ? name : step), owner: container.name };
}

/** Where the name of a listed value stands. */
const BESIDE: ReadonlyMap<string, readonly string[]> = new Map([
  ['value', ['name', 'key']],
  ['Value', ['Name', 'Key']],
]);

const LONGEST_NAME = 64;

/** Cut first: a key may be as long as the raw data. */
export function plainName(key: string): string {
  return key
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
