import { isHostName, isNamed } from './target-state.js';

describe('the host name in a request', () => {
  it.each(['LAPTOP-7', 'a', 'srv_01.corp.example.com', '7b'])('may be %s', (name) => {
    expect(isHostName(name)).toBe(true);
  });

  it.each(["x'", '.', '..', '-x', 'a b', 'a/b', 'a%2fb', 'a\n', '*', 'é', '', 'x'.repeat(254)])(
    'must not be %j',
    (name) => {
      expect(isHostName(name)).toBe(false);
    },
  );

  it.each([
    ['laptop-7.example.com', 'LAPTOP-7', true],
    ['laptop-7.example.com', 'laptop-7.EXAMPLE.com', true],
    ['laptop-7', 'laptop-7', true],
    ['laptop-77.example.com', 'laptop-7', false],
    ['laptop-7.example.com.evil.example', 'laptop-7.example.com', false],
    [undefined, 'laptop-7', false],
  ])(
    'given that the vendor reports %s and the request names %s, matches: %s',
    (found, name, meant) => {
      expect(isNamed(found, name)).toBe(meant);
    },
  );
});
