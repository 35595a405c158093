import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PATH_IN_CODE = /`((?:src|test|docs|docker|scripts|openapi)\/[A-Za-z0-9_./-]+)`/g;

/** Every path that a document names leads somewhere; the records of decisions tell of their own time. */
describe('the documents', () => {
  const documents = [
    'README.md',
    ...readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];

  it.each(documents)('should name only files that exist: %s', (document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const named = [...text.matchAll(PATH_IN_CODE)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
