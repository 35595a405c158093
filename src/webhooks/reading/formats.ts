import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type {
  EventFormatName,
  Preset,
  JoinedPointers,
  Mapping,
  SeverityMapping,
} from '../sources/webhook-source.entity.js';
import { type Json, textOf } from './event-json.js';
import { alertReader, resolve, textsAt, waysOf } from './mapping.js';
import { type Alert, numberIn, type Translations } from './words.js';

/** Holds if a pointer leads to a value. With `is`, the value in small letters must also be in the list. */
interface Condition {
  readonly at: JoinedPointers;
  readonly is?: readonly string[];
}

interface Format {
  readonly marks: readonly Condition[];
  /** Pointers to the objects at which all other pointers start. A pointer with `^` starts at the event instead. */
  readonly within?: readonly string[];
  readonly mapping: Mapping;
  /** Type words of the tool, in the form of normalWord, with their incident types. */
  readonly types?: Readonly<Record<string, string>>;
  readonly usual: readonly (Partial<Condition> & { readonly type: string })[];
  /** Pointer to the severity as a number. `scale` gives the meaning of the number. */
  readonly number?: string;
  readonly scale?: SeverityMapping;
  readonly hash?: string;
}

/** Returns `undefined` if the event lacks a mark of the format. */
type EventReader = (event: Json) => Alert | undefined;
type FormatName = Exclude<EventFormatName, 'auto' | 'mapping'>;

function yamlFiles<Content>(folder: string): (readonly [name: string, content: Content])[] {
  const path = join(__dirname, '..', folder);
  return readdirSync(path)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const content = parse(readFileSync(join(path, file), 'utf8')) as Content;
      return [basename(file, '.yaml'), content] as const;
    });
}

export const FORMATS = Object.fromEntries(
  yamlFiles<Format>('formats').map(([name, format]) => [name, readerOf(format)]),
) as Readonly<Record<FormatName, EventReader>>;

export const PRESETS = yamlFiles<Omit<Preset, 'name'>>('presets').map(
  ([name, content]): Preset => ({ name, ...content }),
);

export const presetNamed = (name: string): Preset | undefined =>
  PRESETS.find((preset) => preset.name === name);

/** Returns `undefined` if the event does not fit the format. For `auto`, exactly one format must fit. */
export function readAs(
  format: Exclude<EventFormatName, 'mapping'>,
  event: Json,
): Alert | undefined {
  const readers = format === 'auto' ? Object.values(FORMATS) : [FORMATS[format]];
  const [alert, ...others] = readers.flatMap((read) => read(event) ?? []);
  return others.length === 0 ? alert : undefined;
}

function readerOf({ within, mapping, scale, ...format }: Format): EventReader {
  const read = alertReader(mapping, within);
  const types: Translations = new Map(Object.entries(format.types ?? {}));
  const marks = format.marks.map(test);
  const usual = format.usual.map(({ type, at = '', is }) => ({ type, holds: test({ at, is }) }));
  const [numbers, hashed] = [waysOf(format.number ?? []), waysOf(format.hash ?? [])];
  return (event) => {
    if (!marks.every((holds) => holds(event))) return undefined;
    const found = { event, body: event };
    const { title, severity, eventId, ...alert } = read(found);
    const number = numberIn(textsAt(found, numbers)?.[0]);
    const results = hashed.map(([place]) => resolve(event, place!.steps) ?? null);
    const suffix = results.map((result) => `:${hash('sha256', JSON.stringify(result))}`).join('');
    return {
      ...alert,
      // Replaces underscores, because a title such as `disk_full` is hard to read.
      title: title?.replace(/^\w+$/, (word) => word.replaceAll('_', ' ')),
      eventId: eventId && eventId + suffix,
      severity: severity && { ...severity, number, scale },
      types,
      usualType: usual.find(({ holds }) => holds(event))!.type,
    };
  };
}

function test({ at, is }: Condition): (event: Json) => boolean {
  const ways = waysOf(at);
  return (event) =>
    ways.some((places) =>
      places.every(({ steps }) => {
        const value = resolve(event, steps) ?? null;
        return value !== null && (!is || is.includes(textOf(value)?.toLowerCase() ?? ''));
      }),
    );
}
