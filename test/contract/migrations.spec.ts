import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { schema } from '../../src/app.schema.js';
import checksums from '../../src/migrations/checksums.json';

const FOLDER = join(__dirname, '../../src/migrations');
const MIGRATION = /^(\d{13})-([a-z0-9-]+)\.ts$/;

/**
 * Returns the files of a migration: the TypeScript file, and the SQL files in the folder that has the same name without
 * the number.
 */
function filesOf(file: string): string[] {
  const folder = MIGRATION.exec(file)![2]!;
  const parts = readdirSync(FOLDER).includes(folder) ? readdirSync(join(FOLDER, folder)) : [];
  return [file, ...parts.sort().map((part) => join(folder, part))];
}

function checksumOf(file: string): string {
  const hash = createHash('sha256');
  for (const part of filesOf(file)) hash.update(readFileSync(join(FOLDER, part)));
  return hash.digest('hex');
}

describe('Migrations', () => {
  const files = readdirSync(FOLDER)
    .filter((file) => MIGRATION.test(file))
    .sort();

  /**
   * An installation applies each migration only once. So an edited migration would leave installations with different
   * schemas.
   */
  it('are never edited: each has the checksum that was recorded when it was added', () => {
    const found = Object.fromEntries(files.map((file) => [file, checksumOf(file)]));
    expect(found).toEqual(checksums);
  });

  it('are listed in app.schema.ts in the order of their numbers, each named after its file', () => {
    const named = files.map((file) => {
      const [, number, words] = MIGRATION.exec(file)!;
      const name = words!.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
      return `${name}${number}`;
    });
    expect(schema.migrations.map((migration) => new migration().name)).toEqual(named);
  });
});
