import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Writes a generated file, or with `--check` compares it with the committed file. */
export function writeOrCheck(path: string, content: string, command: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(path, content);
    return;
  }
  if (!existsSync(path) || readFileSync(path, 'utf8') !== content) {
    process.stderr.write(
      `${path} differs from the generated content: run \`${command}\` and commit it.\n`,
    );
    process.exitCode = 1;
  }
}
