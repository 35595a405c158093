import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type IsFound = (words: string, parts: readonly (string | undefined)[]) => boolean;

describe('the search of the page', () => {
  let isFound: IsFound;
  let searchedWords: (operation: object, resolve: (part: never) => unknown) => string;
  let SYNONYMS: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const file = pathToFileURL(join(__dirname, 'browser/search.mjs')).href;
    ({ isFound, searchedWords, SYNONYMS } = (await import(file)) as never);
  });

  const PARTS = ['Kill switch', 'post', '/api/kill-switch/activate', 'Stop all automation'];

  it.each(['KILL', 'kill-SWITCH', 'Automation stop', '  post  api ', '', '/API/kill'])(
    'finds an operation by %p',
    (words) => expect(isFound(words, PARTS)).toBe(true),
  );

  it.each(['incident', 'kill incident', 'kil1'])('does not find the operation by %p', (words) =>
    expect(isFound(words, PARTS)).toBe(false),
  );

  it('accepts an operation without a title', () => {
    expect(isFound('undefined', ['Access', 'get', '/x', undefined])).toBe(false);
  });

  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string; tags?: string[] }>>;
  };
  const resolve = (part: { $ref?: string } | undefined): unknown =>
    part?.$ref === undefined
      ? part
      : part.$ref
          .replace('#/', '')
          .split('/')
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
  const found = (words: string): string[] =>
    Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .filter((operation) => operation.operationId !== undefined)
      .filter((operation) => isFound(words, [searchedWords(operation, resolve)]))
      .map(({ operationId }) => operationId!);

  it.each([
    ['close', 'updateIncident'],
    ['reopen', 'updateIncident'],
    ['note', 'updateIncident'],
    ['comment', 'approveAction'],
    ['false positive', 'updateIncident'],
    ['related', 'listIncidentReports'],
    ['indicator', 'getIncident'],
    ['isolate', 'executeIncidentAction'],
    ['wave', 'listIncidents'],
  ])('given the word %p, finds the operation %s', (words, operationId) => {
    expect(found(words)).toContain(operationId);
  });

  it('has synonyms only of operations that exist', () => {
    const known = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .map(({ operationId }) => operationId);
    expect(known).toEqual(expect.arrayContaining(Object.keys(SYNONYMS)));
  });
});
