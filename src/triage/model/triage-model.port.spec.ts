import { NO_TOKENS, sumOfTokens, tokensOf } from './triage-model.port.js';

describe('tokensOf', () => {
  it.each([
    ['nothing', undefined],
    ['text', 'usage'],
    ['no usage', {}],
    ['a usage that is none', { usage: 7 }],
    ['fractions', { usage: { input_tokens: 1.5 } }],
    ['less than nothing', { usage: { output_tokens: -1 } }],
    ['more than there are', { usage: { input_tokens: 1e300, output_tokens: 10_000_001 } }],
    ['words', { usage: { input_tokens: '12' } }],
    ['an inherited usage', Object.create({ usage: { input_tokens: 3 } })],
  ])('counts none in %s', (_, answer) => expect(tokensOf(answer)).toEqual(NO_TOKENS));

  it('counts all input, and apart what was read from the cache', () => {
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 20,
      output_tokens: 7,
    };
    const tokens = tokensOf({ usage });
    expect(tokens).toEqual({ input: 25, output: 7, cachedInput: 20 });
    expect(sumOfTokens(tokens, { input: 1, output: 1 })).toEqual({
      input: 26,
      output: 8,
      cachedInput: 20,
    });
  });
});
