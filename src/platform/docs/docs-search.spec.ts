import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type IsFound = (words: string, parts: readonly (string | undefined)[]) => boolean;
type InOrder = (one: Map<string, string>, other: Map<string, string>) => number;

describe('the search of the page', () => {
  let isFound: IsFound;
  let inOrder: InOrder;

  beforeAll(async () => {
    const file = pathToFileURL(join(__dirname, 'browser/search.mjs')).href;
    ({ isFound, inOrder } = (await import(file)) as { isFound: IsFound; inOrder: InOrder });
  });

  const PARTS = ['Kill switch', 'post', '/api/kill-switch/activate', 'Stop all automation'];

  it.each(['KILL', 'kill-SWITCH', 'Automation stop', '  post  api ', '', '/API/kill'])(
    'finds an operation by %p',
    (words) => expect(isFound(words, PARTS)).toBe(true),
  );

  it.each(['incident', 'kill incident', 'kil1'])('does not find it by %p', (words) =>
    expect(isFound(words, PARTS)).toBe(false),
  );

  it('is not disturbed by an operation without a title', () => {
    expect(isFound('undefined', ['Access', 'get', '/x', undefined])).toBe(false);
  });

  it('has operations in the order of addresses, with reading first and deleting last', () => {
    const operation = (text: string) => {
      const [method, path] = text.split(' ') as [string, string];
      return new Map([
        ['method', method],
        ['path', path],
      ]);
    };
    const texts = ['delete /a/{id}', 'post /a', 'put /a/{id}', 'get /a/{id}', 'get /a', 'get /b'];
    const sorted = texts.map(operation).sort((one, other) => inOrder(one, other));
    expect(sorted.map((entry) => `${entry.get('method')} ${entry.get('path')}`)).toEqual([
      ...['get /a', 'post /a', 'get /a/{id}', 'put /a/{id}', 'delete /a/{id}', 'get /b'],
    ]);
  });
});
