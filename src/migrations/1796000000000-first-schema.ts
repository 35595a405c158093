import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FOLDER = join(__dirname, 'first-schema');
/** The files are numbered in the order in which they refer to each other. */
const PART = /^\d\d-.*\.sql$/;

/** The schema of the first release, by module: see the SQL files in first-schema/. */
export class FirstSchema1796000000000 implements MigrationInterface {
  readonly name = 'FirstSchema1796000000000';

  async up(runner: QueryRunner): Promise<void> {
    const parts = readdirSync(FOLDER).filter((file) => PART.test(file));
    for (const part of parts.sort()) await runner.query(read(part));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(read('down.sql'));
  }
}

function read(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}
