import fc from 'fast-check';
import { lastText, questionsOf, readMessage, refusalCategory } from './provider-message.js';
import { tokensOf } from '../triage-model.port.js';

const block = fc.oneof(
  fc.jsonValue(),
  fc.record({ type: fc.constantFrom('text', 'tool_use', 'new'), text: fc.jsonValue() }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.string(),
    name: fc.string(),
    input: fc.jsonValue(),
  }),
);
const answer = fc.oneof(
  fc.jsonValue(),
  fc.record({
    stop_reason: fc.oneof(fc.string(), fc.jsonValue()),
    model: fc.jsonValue(),
    content: fc.oneof(fc.array(block), fc.jsonValue()),
    usage: fc.jsonValue(),
    stop_details: fc.jsonValue(),
  }),
);

describe('readMessage', () => {
  it('throws for no answer, and yields what is said of it', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const message = readMessage(given);
        tokensOf(given);
        expect(refusalCategory(given) ?? 'none').toMatch(/^[a-z_]{1,40}$/);
        if (!message) return;
        expect(['string', 'undefined']).toContain(typeof lastText(message));
        for (const { id, name } of questionsOf(message)) {
          expect([typeof id, typeof name]).toEqual(['string', 'string']);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [
      'a text',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'b',
    ],
    ['none', [{ type: 'thinking', thinking: 'a' }], undefined],
  ])('finds the last of the texts, or %s', (_, content, expected) =>
    expect(lastText(readMessage({ stop_reason: 'end_turn', content })!)).toBe(expected),
  );
});
