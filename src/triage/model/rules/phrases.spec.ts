import { cost, LINEAR } from '../../../../test/support/cost.js';
import { atOnce } from '../../../platform/concurrency/semaphore.js';
import { Facts } from './facts.js';
import { wordsOf } from './phrases.js';

const factsOf = (rawData: Readonly<Record<string, unknown>>) => atOnce(Facts.inPieces(rawData));

describe('the words of a text', () => {
  it('are the same for every Unicode spelling of their letters', () => {
    expect(wordsOf('Ｐａｓｓ\u200bword cafe\u0301 カ\uff9e')).toEqual(['password', 'café', 'ガ']);
  });

  it.each([
    ['marks', '\u0301\u0316'],
    ['characters that normalisation turns into marks', '\uff9e\u0301\uff9f\u0316'],
  ])(
    'keep only a few characters of this kind on one letter, so that normalisation needs linear time: %s',
    async (_, marks) => {
      const read = (length: number) => {
        factsOf({ recipients: Array(100).fill(`x@a${marks.repeat(length / 160)}`) });
        return wordsOf(`a${marks.repeat(length)}b`);
      };
      expect(read(100_000)[0]!.length).toBeLessThan(32);
      expect(await cost(read, 100_000)).toBeLessThan(LINEAR);
    },
  );

  it('count every character as a mark that normalisation turns into marks', () => {
    const hidden: string[] = [];
    for (let code = 0; code < 0x110000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      if (/^[\p{M}\uff9e\uff9f]$/u.test(character)) continue;
      const [first] = character.normalize('NFKD');
      // Normalization puts U+0334 first if the character is a combining mark that takes part in sorting.
      const sorted = `a${first}\u0334`.normalize('NFD');
      if (sorted.startsWith('a\u0334')) hidden.push(character);
    }
    expect(hidden).toEqual([]);
  });
});
