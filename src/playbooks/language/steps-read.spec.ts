import { stepsReadBy, stepsUnderVerdict } from './expression.js';
import type { WrittenStep } from '../playbook.js';

const read = (condition: string, parameters: Record<string, unknown> = {}) =>
  [...stepsReadBy({ condition, parameters })].sort();

describe('the steps that a step reads', () => {
  it.each([
    ['variables.a == 1', []],
    ['steps.scan.result.success', ['scan']],
    ['has(steps.scan.result) && steps.scan.result.success', ['scan']],
    ['has(steps.scan)', ['scan']],
    ['steps["scan"].result.success || steps.find.result.success', ['find', 'scan']],
    ['[1, 2].exists(n, steps.scan.result.data.n == n)', ['scan']],
    ['incident.title == "steps.scan"', []],
    ['incident.raw_data.steps.scan == 1', []],
  ])('are in %s', (condition, names) => {
    expect(read(condition)).toEqual(names);
  });

  it('are in its templates, too', () => {
    const parameters = { ip: '{{ steps.find.result.data.ip }}', duration_minutes: 5 };
    expect(read('true', parameters)).toEqual(['find']);
    expect(read('true', { reason: 'steps.find' })).toEqual([]);
  });

  it('are none where an expression cannot be read', () => {
    expect(read('steps.scan ==')).toEqual([]);
    expect(read('true', { reason: '{{ steps.scan.result' })).toEqual([]);
  });
});

const ASKS = 'verdict.classification == "malicious"';

function step(name: string, condition?: string, message = 'm'): WrittenStep {
  const parameters = { channel: 'c', message };
  return { name, action: 'notify_channel', parameters, condition, on_error: 'continue' };
}

const stopping = (one: WrittenStep): WrittenStep => ({ ...one, on_error: 'stop' });
const under = (...steps: WrittenStep[]) => [...stepsUnderVerdict(steps)];

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
  ])('says of a step with the condition %j: %s', (condition, expected) => {
    expect(under(step('a', condition))).toEqual(expected ? ['a'] : []);
  });

  it('names the steps that read what such steps came to', () => {
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

  it('does not name a step that says the classification to people, but a step that reads its outcome', () => {
    const steps = [
      step('tells', undefined, '{{ incident.classification }}'),
      step('apart'),
      step('reads', 'steps.tells.result.message.contains("malicious")'),
    ];
    expect(under(...steps)).toEqual(['reads']);
  });

  it('names every step after one whose failure ends the run', () => {
    const [before, after, last] = [stopping(step('before')), step('after'), step('last')];
    expect(under(before, stopping(step('asks', ASKS)), after, last)).toEqual([
      'asks',
      'after',
      'last',
    ]);
    expect(under(before, step('asks', ASKS), after, stopping(last))).toEqual(['asks']);
  });

  it('names every step after one that can end the run by way of another step', () => {
    const reads = stopping(step('reads', 'steps.asks.result.success'));
    expect(under(step('asks', ASKS), step('apart'), reads, step('after'))).toEqual([
      'asks',
      'reads',
      'after',
    ]);
  });

  it('names a step that cannot be read', () => {
    expect(under(step('a', 'x ='), step('b', undefined, '{{ x'))).toEqual(['a', 'b']);
  });
});
