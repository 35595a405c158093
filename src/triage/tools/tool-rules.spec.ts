import { LONGEST_ANSWER_BYTES, type TriageTool } from '../model/triage-model.port.js';
import { boundedTools, indicatorOf, requireNoInput } from './tool-rules.js';

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

const tool = (ask: TriageTool['ask'], name = 'one'): TriageTool => ({
  name,
  description: 'A tool.',
  inputSchema: {},
  ask,
});
const never = new AbortController().signal;

describe('the tools of a run', () => {
  it('answer so many questions together, whichever is asked, and not one more', async () => {
    const ask = jest.fn(async () => 1);
    const [one, two] = boundedTools([tool(ask), tool(ask, 'two')], { mostCalls: 3 });
    await one!.ask({}, never);
    await two!.ask({}, never);
    await one!.ask({}, never);
    await expect(two!.ask({}, never)).rejects.toThrow('No more questions');
    await expect(one!.ask({}, never)).rejects.toThrow('No more questions');
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('count a question that failed', async () => {
    const [one] = boundedTools([tool(() => Promise.reject(new Error('broken')))], { mostCalls: 1 });
    await expect(one!.ask({}, never)).rejects.toThrow('broken');
    await expect(one!.ask({}, never)).rejects.toThrow('No more questions');
  });

  it('give up what takes too long, also when it ignores the signal', async () => {
    const [hangs] = boundedTools([tool(() => new Promise(() => undefined))], { timeMs: 5 });
    await expect(hangs!.ask({}, never)).rejects.toThrow('There was no answer within 5 ms.');
  });

  it('throw what ended the run, when it ends meanwhile', async () => {
    const run = new AbortController();
    const [hangs] = boundedTools([tool(() => new Promise(() => undefined))]);
    const asked = hangs!.ask({}, run.signal);
    run.abort(new Error('over'));
    await expect(asked).rejects.toThrow('over');
  });

  it('cut an answer that is too large', async () => {
    const [one] = boundedTools([tool(async () => ({ text: 'x'.repeat(1_000_000) }))]);
    expect(JSON.stringify(await one!.ask({}, never)).length).toBeLessThanOrEqual(
      LONGEST_ANSWER_BYTES,
    );
  });
});
