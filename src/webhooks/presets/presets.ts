import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { parsePointer } from '../../platform/json-pointer.js';
import { isList, type Json } from '../reading/json.js';
import { mappingProblems, readingProblems } from '../reading/mapping.js';
import { resolve } from '../reading/places.js';
import type { Preset } from '../sources/webhook-source.entity.js';

/** Each YAML file of this folder is a preset with the name of the file. */
export const PRESETS: readonly Preset[] = readdirSync(__dirname)
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => {
    const content = parse(readFileSync(join(__dirname, file), 'utf8')) as Omit<Preset, 'name'>;
    const preset = { name: basename(file, '.yaml'), ...content };
    const problems = [...readingProblems(preset), ...preset.marks.flatMap(markProblems)];
    if (problems.length > 0) throw new Error(`${file}: ${JSON.stringify(problems)}`);
    return preset;
  });

const BY_NAME = new Map(PRESETS.map((preset) => [preset.name, preset]));

function markProblems(mark: readonly string[]) {
  return mappingProblems({ title: mark }, 'marks');
}

export function presetNamed(name: string): Preset | undefined {
  return BY_NAME.get(name);
}

/**
 * Returns the preset whose tool sends such bodies. Of several fitting marks, the mark with the most pointers counts. Returns `undefined`
 * if two presets have as many.
 */
export function presetLike(body: Json): Preset | undefined {
  const first = isList(body) ? body[0] : body;
  if (first === undefined) return undefined;
  const found = PRESETS.map((preset) => ({ preset, length: longestMark(preset, first) }));
  const longest = Math.max(...found.map(({ length }) => length));
  const [best, ...others] = found.filter(({ length }) => length === longest);
  return longest > 0 && others.length === 0 ? best!.preset : undefined;
}

function longestMark({ marks }: Preset, body: Json): number {
  const fitting = marks.filter((mark) =>
    mark.every((pointer) => (resolve(body, parsePointer(pointer)!) ?? null) !== null),
  );
  return Math.max(0, ...fitting.map((mark) => mark.length));
}
