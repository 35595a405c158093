import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes a generated file, or with `--check` compares it byte by byte with what is committed and says which command
 * makes it fresh. Needs no clean git tree.
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
