import { stripVTControlCharacters } from 'node:util';
import type { AcceptedWarning } from './client.ts';

/** Lines that a generator or a compiler marks as a warning, in whichever words; `+deprecated` is the version of a package. */
const WARNING = /(?<!\+)\b(?:warn|warning|warnings|deprecated)\b/i;

/** Without the colours that compilers give them. */
const linesOf = (output: string): string[] =>
  stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());

/** What is wrong with what generating and compiling have printed. */
export function unexpected(output: string, accepted: readonly AcceptedWarning[]): string[] {
  const warnings = linesOf(output).filter((line) => WARNING.test(line));
  const isAccepted = (warning: string) => accepted.some(({ line }) => warning.includes(line));
  return [
    ...accepted
      .filter(({ because }) => !because)
      .map(({ line }) => `accepted without a reason: ${line}`),
    ...accepted
      .filter(({ line }) => !warnings.some((warning) => warning.includes(line)))
      .map(({ line }) => `accepted but not there: ${line}`),
    ...warnings.filter((warning) => !isAccepted(warning)).map((warning) => `warns: ${warning}`),
  ];
}

/** The steps that a scenario did not take, took twice or took in another order than the others. */
export function missteps(output: string, steps: readonly string[]): string[] {
  const taken = linesOf(output).flatMap((line) => /^ok (.+)$/.exec(line)?.[1] ?? []);
  return taken.join('\n') === steps.join('\n')
    ? []
    : [`took the steps ${taken.join(', ') || '(none)'} instead of ${steps.join(', ')}`];
}
