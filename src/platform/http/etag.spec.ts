import { cost, LINEAR } from '../../../test/support/cost.js';
import { AppError } from '../errors/app-error.js';
import { etagOf, parseIfMatch, requireMatch } from './etag.js';

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as AppError).code;
  }
}

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['*', '*'],
    [' * ', '*'],
    ['"3"', ['"3"']],
    ['"1", "2" ,"3"', ['"1"', '"2"', '"3"']],
    ['"1",, "2",', ['"1"', '"2"']],
    ['W/"3", "4"', ['W/"3"', '"4"']],
    ['""', ['""']],
    ['"a,b"', ['"a,b"']],
  ])('parses %p', (header, expected) => {
    expect(parseIfMatch(header)).toEqual(expected);
  });

  it.each(['', ',', '3', '"3', '3"', '"3" "4"', '*, "3"', "'3'", 'w/"3"', '"a"b', '"a b\u0000"'])(
    'refuses %p as malformed',
    (header) => {
      expect(codeOf(() => parseIfMatch(header))).toBe('bad_request');
    },
  );

  it.each([
    [undefined, true],
    ['*', true],
    ['"7"', true],
    ['"6", "7"', true],
    ['W/"7"', false],
    ['"6"', false],
    ['"07"', false],
    ['""', false],
  ])('is compared with version 7: %p', (header, matches) => {
    const code = codeOf(() => requireMatch(parseIfMatch(header), 7));
    expect(code).toBe(matches ? undefined : 'precondition_failed');
  });

  it.each(['b-7', 'a-8', 'a-70', 'a'])(
    'does not match version 7 of the resource a with only the tag "%s"',
    (tag) => {
      const codeFor = (header: string) => codeOf(() => requireMatch(parseIfMatch(header), 'a-7'));
      expect(codeFor(`"${tag}"`)).toBe('precondition_failed');
      expect(codeFor(`"${tag}", "a-7"`)).toBeUndefined();
    },
  );

  it('matches the tag that the service sent', () => {
    expect(codeOf(() => requireMatch(parseIfMatch(etagOf(12)), 12))).toBeUndefined();
  });

  it.each([',', ' ', ', ', '"",', 'W/"",', '" '])(
    'reads a header full of "%s" in linear time',
    async (unit) => {
      const work = (length: number) => {
        codeOf(() => parseIfMatch(`"1"${unit.repeat(length / unit.length)}x`));
        codeOf(() => parseIfMatch(`${unit.repeat(length / unit.length)}x`));
      };
      expect(await cost(work, 8_000)).toBeLessThan(LINEAR);
    },
  );
});
