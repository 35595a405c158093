import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { readingProblems } from '../reading/mapping.js';
import type { Preset } from '../sources/webhook-source.entity.js';

/** Each YAML file of this folder is a preset with the name of the file. */
export const PRESETS: readonly Preset[] = readdirSync(__dirname)
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => {
    const content = parse(readFileSync(join(__dirname, file), 'utf8')) as Omit<Preset, 'name'>;
    const preset = { name: basename(file, '.yaml'), ...content };
    const problems = readingProblems(preset);
    if (problems.length > 0) throw new Error(`${file}: ${JSON.stringify(problems)}`);
    return preset;
  });

const BY_NAME = new Map(PRESETS.map((preset) => [preset.name, preset]));

export function presetNamed(name: string): Preset | undefined {
  return BY_NAME.get(name);
}
