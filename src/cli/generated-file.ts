import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes a generated file, or with `--check` compares it byte by byte with the committed one and names the command that
 * generates it. Works with uncommitted changes, too.
 */
export function writeOrCheck(path: string, content: string, command: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(path, content);
    return;
  }
  if (!existsSync(path) || readFileSync(path, 'utf8') !== content) {
    process.stderr.write(
      `${path} is not what the code generates: run \`${command}\` and commit it.\n`,
    );
    process.exitCode = 1;
  }
}
