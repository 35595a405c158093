import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTOR_TYPES } from '../../src/connectors/connector-registry.js';
import { EVENT_TYPES } from '../../src/notifications/notification.js';

const ROOT = join(__dirname, '../..');
const PATH_IN_CODE = /`((?:src|test|docs|docker|scripts|openapi)\/[A-Za-z0-9_./-]+)`/g;

const NAME_IN_FILE = /`(\w+)` (?:in|of) `((?:src|test)\/[\w./-]+\.ts)`/g;

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

  it('names a thing of a file only if the file contains it: CONTRIBUTING.md', () => {
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').replaceAll(/\s+/g, ' ');
    const named = [...text.matchAll(NAME_IN_FILE)];
    expect(named.length).toBeGreaterThan(10);
    const missing = named.filter(
      ([, name, file]) => !readFileSync(join(ROOT, file!), 'utf8').includes(name!),
    );
    expect(missing.map(([line]) => line)).toEqual([]);
  });

  it.each<[string, string, readonly string[]]>([
    ['connectors.md', '## ', CONNECTOR_TYPES.all.map(({ name }) => name)],
    ['notifications.md', '\\| `', Object.keys(EVENT_TYPES)],
  ])('describes each connector type and each event: %s', (document, mark, names) => {
    const text = readFileSync(join(ROOT, 'docs', document), 'utf8');
    expect(names.filter((name) => !new RegExp(`^${mark}${name}\\b`, 'm').test(text))).toEqual([]);
  });
});
