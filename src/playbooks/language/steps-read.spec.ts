import { stepsUnderVerdict } from './expression.js';
import type { PlaybookStep } from '../playbook.js';

const ASKS = 'verdict.classification == "malicious"';

function step(name: string, condition?: string, message = 'm'): PlaybookStep {
  const parameters = { channel: 'c', message };
  return { name, action: 'notify_channel', parameters, condition, on_error: 'continue' };
}

const stopping = (one: PlaybookStep): PlaybookStep => ({ ...one, on_error: 'stop' });
const under = (...steps: PlaybookStep[]) => [...stepsUnderVerdict(steps)];

describe('stepsUnderVerdict', () => {
  it.each([
    [ASKS, true],
    ['true || (has(verdict.model) ? true : false)', true],
    ['incident.raw_data.urls.exists(u, u == verdict.category)', true],
    ['["verdict"].exists(v, v == "verdict.classification")', false],
    ['incident.raw_data.verdict == 1', false],
    ['incident.raw_data["verdict"] == 1', false],
    ['// verdict\n true', false],
    ['verdict ==', true],
    ['', true],
  ])(
    'given the condition %j, returns that the step depends on the verdict: %s',
    (condition, expected) => {
      expect(under(step('a', condition))).toEqual(expected ? ['a'] : []);
    },
  );

  it('returns the steps that read the outcome of a step that depends on the verdict', () => {
    const steps = [
      step('free', 'incident.severity == "high"'),
      step('asks', ASKS),
      step('follows', 'has(steps.asks.result)'),
      step('tells', undefined, 'It was {{ steps["follows"].result.message }}'),
      step('apart', 'has(steps.free.result)', 'verdict {{ "verdict" }}'),
      step('last', '!has(steps.tells.result)'),
    ];
    expect(under(...steps)).toEqual(['asks', 'follows', 'tells', 'last']);
  });

  it('given a step with the classification in its text, returns the steps that read its outcome, but not the step', () => {
    const steps = [
      step('tells', undefined, '{{ incident.classification }}'),
      step('apart'),
      step('reads', 'steps.tells.result.message.contains("malicious")'),
    ];
    expect(under(...steps)).toEqual(['reads']);
  });

  it('returns all steps after a step that depends on the verdict and whose failure ends the run', () => {
    const [before, after, last] = [stopping(step('before')), step('after'), step('last')];
    expect(under(before, stopping(step('asks', ASKS)), after, last)).toEqual([
      'asks',
      'after',
      'last',
    ]);
    expect(under(before, step('asks', ASKS), after, stopping(last))).toEqual(['asks']);
  });

  it('returns all later steps if a step can end the run and depends on the verdict through another step', () => {
    const reads = stopping(step('reads', 'steps.asks.result.success'));
    expect(under(step('asks', ASKS), step('apart'), reads, step('after'))).toEqual([
      'asks',
      'reads',
      'after',
    ]);
  });

  it('returns a step that cannot be parsed', () => {
    expect(under(step('a', 'x ='), step('b', undefined, '{{ x'))).toEqual(['a', 'b']);
  });
});
