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

  const CODE = /`([^`\n]+)`/g;
  const A_FILE = /^[\w./-]+\.(?:ts|mjs|json|sql)$/;
  /** `PlaybookDefinition`, `isUuid(id)` or `EVENT_FORMATS`; a word in small letters alone may be anything. */
  const A_NAME = /^([A-Za-z]+[A-Z_][A-Za-z_]*)(?:\(.*\))?$/;
  /** What a reader of the steps adds, or what a running service makes. */
  const NOT_THERE_YET = /cef[-_]json|door[-_]guard|^\.data\//;

  it('should name in CONTRIBUTING only files and code that exist', () => {
    const files = ['src', 'test', 'scripts', 'openapi'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => A_FILE.test(name) && !name.includes('node_modules'))
        .map((name) => join('/', folder, name)),
    );
    const words = new Set(
      files
        .filter((name) => !name.startsWith('/openapi/'))
        .flatMap((name) => readFileSync(join(ROOT, name), 'utf8').match(/\w+/g) ?? []),
    );
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').replaceAll(
      /^```[^]*?^```/gm,
      '',
    );
    const named = [...text.matchAll(CODE)]
      .map(([, code]) => code!)
      .filter((code) => !NOT_THERE_YET.test(code));
    const missing = named.filter((code) => {
      if (A_FILE.test(code)) return !files.some((file) => file.endsWith(`/${code}`));
      const [, name] = A_NAME.exec(code) ?? [];
      return name !== undefined && !words.has(name);
    });
    expect(missing).toEqual([]);
  });
});
