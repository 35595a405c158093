import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that belong together, and the specs that would notice a fault in them: in stages, the quickest first. */
export interface Target {
  readonly what: string;
  readonly files: readonly string[];
  /** Patterns of paths, as jest takes them. */
  readonly specs: readonly (readonly string[])[];
}

/** A fault that no operator makes, or that was found to go unnoticed once. */
export interface NamedFault {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault that changes nothing that anybody could see. */
export interface Equivalent {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

const here = <T>(name: string): T => JSON.parse(readFileSync(join(__dirname, name), 'utf8')) as T;

export const targets = here<readonly Target[]>('targets.json');
export const namedFaults = here<readonly NamedFault[]>('faults.json');
export const equivalents = here<readonly Equivalent[]>('equivalents.json');

/** What is listed and is not there any more: files, and patterns that no spec matches. */
export function missing(root: string): string[] {
  const specs = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.spec.ts'))
      .map((path) => join(folder, path)),
  );
  return targets.flatMap(({ files, specs: stages }) => [
    ...files.filter((file) => !existsSync(join(root, file))),
    ...stages.flat().filter((pattern) => !specs.some((path) => new RegExp(pattern).test(path))),
  ]);
}
