import { FakeMessagesApi } from '../../../../test/support/fake-messages-api.js';
import { failure, toolUse, verdict } from '../../../../test/support/fake-messages-answers.js';
import { CountingGate, judge, modelAt } from '../../../../test/support/judge.js';
import type { TriageTool } from '../triage-model.port.js';

const TOOL: TriageTool = {
  name: 'look_up',
  description: 'Reputation of the indicator.',
  ask: async () => ({}),
};

describe('a model with a permit check', () => {
  let api: FakeMessagesApi;
  let gate: CountingGate;

  beforeAll(async () => {
    api = await FakeMessagesApi.start();
  });

  beforeEach(() => {
    api.forget();
    gate = new CountingGate();
  });

  afterAll(() => api.stop());

  it('runs the permit check before it sends each request', async () => {
    const seen: number[] = [];
    gate.whenAsked = () => seen.push(api.requests.length);
    api.script(
      toolUse({ name: TOOL.name, input: { indicator_id: 'i1' } }),
      failure(529, 'overloaded_error'),
      verdict(),
    );
    await judge(modelAt(api), { gate, tools: [TOOL] });
    expect(seen).toEqual([0, 1, 2]);
  });

  it.each([1, 2])(
    'sends nothing if the permit check rejects request %i, and throws its error unchanged',
    async (at) => {
      const refusals = [
        new Error('the switch is on'),
        new DOMException('of the gate', 'TimeoutError'),
        { no: 'error' },
      ];
      for (const refusal of refusals) {
        api.forget();
        const closing = new CountingGate();
        closing.refuseFrom = at;
        closing.refusal = refusal;
        api.script(toolUse({ name: TOOL.name, input: { indicator_id: 'i1' } }), verdict());
        const outcome = judge(modelAt(api), { gate: closing, tools: [TOOL] });
        await expect(outcome).rejects.toBe(refusal);
        expect(api.requests).toHaveLength(at - 1);
        expect(closing.asked).toBe(at);
      }
    },
  );

  it('does not run the permit check if the signal is aborted before the first request', async () => {
    api.script(verdict());
    const given = new Error('the claim is lost');
    const judging = { gate, signal: AbortSignal.abort(given) };
    await expect(judge(modelAt(api), judging)).rejects.toBe(given);
    expect([gate.asked, api.requests.length]).toEqual([0, 0]);
  });

  it('sends nothing if the signal is aborted during the permit check', async () => {
    api.script(verdict());
    const run = new AbortController();
    const given = new Error('the claim is lost');
    gate.whenAsked = () => run.abort(given);
    await expect(judge(modelAt(api), { gate, signal: run.signal })).rejects.toBe(given);
    expect(api.requests).toEqual([]);
  });

  it('ends the request in progress if the signal is aborted, and sends no other request', async () => {
    const run = new AbortController();
    const given = new Error('the claim is lost');
    api.whenAsked = () => run.abort(given);
    api.script({ kind: 'hang' });
    await expect(judge(modelAt(api), { gate, signal: run.signal })).rejects.toBe(given);
    while (api.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(api.requests).toHaveLength(1);
  });
});
