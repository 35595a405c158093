/** The full run: `CHAOS=full npm run test:chaos`. */
export const FULL = process.env['CHAOS'] === 'full';

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
