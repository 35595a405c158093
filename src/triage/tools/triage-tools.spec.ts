import { LONGEST_ANSWER_BYTES, type TriageTool } from '../model/triage-model.port.js';
import { boundedTool, indicatorOf } from './triage-tools.js';

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
});

const tool = (ask: TriageTool['ask']): TriageTool => ({
  name: 'one',
  description: 'A tool.',
  inputSchema: {},
  ask,
});
const never = new AbortController().signal;

describe('a tool of a run', () => {
  it('fails with ToolError after its time limit, even if it ignores the signal', async () => {
    const hangs = boundedTool(
      tool(() => new Promise(() => undefined)),
      5,
    );
    await expect(hangs.ask({}, never)).rejects.toThrow('There was no answer within 5 ms.');
  });

  it('fails with the reason of the signal if the run ends first', async () => {
    const run = new AbortController();
    const hangs = boundedTool(tool(() => new Promise(() => undefined)));
    const asked = hangs.ask({}, run.signal);
    run.abort(new Error('over'));
    await expect(asked).rejects.toThrow('over');
  });

  it('cuts an answer that is too large', async () => {
    const one = boundedTool(tool(async () => ({ text: 'x'.repeat(1_000_000) })));
    expect(JSON.stringify(await one.ask({}, never)).length).toBeLessThanOrEqual(
      LONGEST_ANSWER_BYTES,
    );
  });
});
