import { yamlFiles } from '../reading/formats.js';
import { readingProblems } from '../reading/reading-problems.js';
import type { Preset } from '../sources/webhook-source.entity.js';

/** Each YAML file of this folder is a preset. The file name is the name of the preset. */
export const PRESETS: readonly Preset[] = yamlFiles<Omit<Preset, 'name'>>(__dirname).map(
  ([name, content]) => {
    const { mapping, severity_mapping, type_mapping } = content;
    const problems = readingProblems({ mapping, severity_mapping, type_mapping });
    if (problems.length > 0) throw new Error(`${name}: ${JSON.stringify(problems)}`);
    return { name, ...content };
  },
);

export const presetNamed = (name: string): Preset | undefined =>
  PRESETS.find((preset) => preset.name === name);
