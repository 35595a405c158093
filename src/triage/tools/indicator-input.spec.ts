import { indicatorOf, requireNoInput } from './indicator-input.js';

const INDICATORS = [
  { id: 'i1', type: 'ip', value: '203.0.113.9', pointers: ['/ip'] },
  { id: 'i2', type: 'host', value: 'laptop-7', pointers: ['/host'] },
] as const;

describe('the input of a question', () => {
  it('names an indicator by its id', () => {
    expect(indicatorOf({ indicator_id: 'i2' }, INDICATORS)).toBe(INDICATORS[1]);
  });

  it.each([
    [{}],
    [{ indicator_id: 'i3' }],
    [{ indicator_id: '203.0.113.9' }],
    [{ indicator_id: ['i1'] }],
    [{ indicator_id: null }],
    [{ indicator_id: 'i1', value: 'secret.example.net' }],
    [{ value: 'i1' }],
    [JSON.parse('{"__proto__": {"indicator_id": "i1"}}') as Record<string, unknown>],
    [Object.create({ indicator_id: 'i1' }) as Record<string, unknown>],
  ])('is refused when it is %j', (input) => {
    expect(() => indicatorOf(input, INDICATORS)).toThrow('with the id of an indicator');
  });

  it('is empty where a tool takes none', () => {
    expect(() => requireNoInput({})).not.toThrow();
    expect(() => requireNoInput({ text: 'x' })).toThrow('takes no input');
  });
});
