import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FOLDER = join(__dirname, 'first-schema');
/** The files are numbered, because each file may refer to objects of earlier files. */
const PART = /^\d\d-.*\.sql$/;

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
