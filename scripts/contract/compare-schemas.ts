import type { Schema } from './document.ts';

/** Who writes the values of a schema: a narrower one breaks whoever writes, a looser one whoever reads. */
export interface Use {
  readonly sent: boolean;
  readonly received: boolean;
}

type Report = (kind: string, place: string) => void;

const UPPER = ['maxLength', 'maximum', 'maxItems', 'maxProperties'];
const LOWER = ['minLength', 'minimum', 'minItems', 'minProperties'];

/** Reports what breaks a client of `before` that meets `after`. */
export function compareSchemas(
  before: Schema,
  after: Schema,
  place: string,
  use: Use,
  report: Report,
): void {
  for (const keyword of ['$ref', 'type', 'format'] as const) {
    if (before[keyword] !== after[keyword]) report(`${keyword.replace('$', '')}-changed`, place);
  }
  compareValues(before, after, place, use, report);
  compareProperties(before, after, place, use, report);
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    const present = after.properties?.[name];
    if (present) compareSchemas(property, present, `${place}.${name}`, use, report);
  }
  if (before.items && after.items) {
    compareSchemas(before.items, after.items, `${place}[]`, use, report);
  }
  for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
    compareVariants(before[keyword], after[keyword], `${place}.${keyword}`, use, report);
  }
}

function compareValues(before: Schema, after: Schema, place: string, use: Use, report: Report) {
  const values = new Set(after.enum ?? before.enum);
  const removed = (before.enum ?? []).filter((value) => !values.has(value));
  for (const value of removed) report('enum-value-removed', `${place}=${String(value)}`);
  if (!use.sent) return;
  if (after.enum && !before.enum) report('enum-added', place);
  if (after.pattern !== undefined && !takesAtLeast(after.pattern, before.pattern))
    report('pattern-changed', place);
  for (const keyword of [...UPPER, ...LOWER]) {
    const [was, is] = [before[keyword], after[keyword]];
    if (typeof is !== 'number') continue;
    const narrower = typeof was !== 'number' || (UPPER.includes(keyword) ? is < was : is > was);
    if (narrower) report('limit-narrowed', `${place} ${keyword}`);
  }
}

function compareProperties(
  before: Schema,
  after: Schema,
  place: string,
  use: Use,
  report: Report,
): void {
  for (const name of Object.keys(before.properties ?? {})) {
    if (!after.properties?.[name]) report('property-removed', `${place}.${name}`);
  }
  const [was, is] = [before.required ?? [], after.required ?? []];
  if (use.sent) {
    for (const name of without(is, was)) report('property-required', `${place}.${name}`);
    if (after.additionalProperties === false && before.additionalProperties !== false)
      report('additional-properties-refused', place);
  }
  if (use.received) {
    for (const name of without(was, is)) {
      if (after.properties?.[name]) report('property-optional', `${place}.${name}`);
    }
  }
}

function compareVariants(
  before: readonly Schema[] | undefined,
  after: readonly Schema[] | undefined,
  place: string,
  use: Use,
  report: Report,
): void {
  if (!before && !after) return;
  if (before?.length !== after?.length) return report('variants-changed', place);
  before?.forEach((variant, index) => {
    compareSchemas(variant, after?.[index] ?? {}, `${place}[${index}]`, use, report);
  });
}

const without = (all: readonly string[], some: readonly string[]): string[] =>
  all.filter((name) => !some.includes(name));

const WORDS = /\((\w+(?:\|\w+)+)\)/g;
const REPEATED = /\{0,(\d+)\}/;

/** The same pattern, or the same list of known words with more words in it or more of them at once. */
function takesAtLeast(after: string, before: string | undefined): boolean {
  if (after === before) return true;
  if (before === undefined) return false;
  const form = (pattern: string) => pattern.replace(WORDS, '()').replace(REPEATED, '{}');
  const words = (pattern: string) =>
    [...pattern.matchAll(WORDS)].flatMap(([, list = '']) => list.split('|'));
  const most = (pattern: string) => Number(REPEATED.exec(pattern)?.[1] ?? 0);
  return (
    form(after) === form(before) &&
    words(before).length > 0 &&
    without(words(before), words(after)).length === 0 &&
    most(after) >= most(before)
  );
}
