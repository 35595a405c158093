import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The files of src that are part of the service, by their paths. */
const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => `src/${path}`);

/** Connecting, migrating, backing up: SQL is what they are about. */
const ABOUT_SQL = /^src\/(?:migrations|platform\/database)\//;
const WRITES_SQL = /: Statement =|statements\.rows|\.query[(<]/;

describe('the house', () => {
  it('says on the first line of a file why it writes SQL instead of using a repository', () => {
    const silent = files.filter(
      (path) =>
        !ABOUT_SQL.test(path) && WRITES_SQL.test(read(path)) && !/^\/\/ SQL[:, ]/.test(read(path)),
    );
    expect(silent).toEqual([]);
  });

  it('has no entity that the schema alone imports', () => {
    const others = files.filter((path) => path !== 'src/app.schema.ts').map(read);
    const entities = files
      .filter((path) => path.endsWith('.entity.ts'))
      .flatMap((path) => [...read(path).matchAll(/export class (\w+)/g)].map(([, name]) => name!));
    const unused = entities.filter(
      (name) => !others.some((text) => new RegExp(`import[^;]*\\b${name}\\b[^;]*;`).test(text)),
    );
    expect(entities.length).toBeGreaterThan(15);
    expect(unused).toEqual([]);
  });

  it('tells in the record of repositories of each of them', () => {
    const record = read('docs/adr/0015-typeorm-repositories.md');
    const names = files
      .filter((path) => path.endsWith('.repository.ts'))
      .map((path) => path.replace('src/', ''));
    expect(names.filter((name) => !record.includes(`\`${name}\``))).toEqual([]);
  });
});
