import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PATH_IN_CODE = /`((?:src|test|docs|docker|scripts|openapi)\/[A-Za-z0-9_./-]+)`/g;

/** Decision records (docs/adr) may name files of their time. */
describe('the documentation', () => {
  it.each(globSync(['README.md', 'CONTRIBUTING.md', 'docs/*.md'], { cwd: ROOT }))(
    'names only files that exist: %s',
    (document) => {
      const text = readFileSync(join(ROOT, document), 'utf8');
      const named = [...text.matchAll(PATH_IN_CODE)].map(([, path]) => path!);
      expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );
});
