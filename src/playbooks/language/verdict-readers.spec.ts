import type { PlaybookStep } from './playbook-definition.js';
import { readsVerdict, stepsUnderVerdict } from './verdict-readers.js';

function step(name: string, condition?: string, message = 'm'): PlaybookStep {
  const parameters = { channel: 'c', message };
  return { name, action: 'notify_channel', parameters, condition, on_error: 'stop' };
}

describe('readsVerdict', () => {
  it.each([
    ['verdict.classification == "malicious"', true],
    ['true || (has(verdict.model) ? true : false)', true],
    ['incident.raw_data.urls.exists(u, u == verdict.category)', true],
    ['["verdict"].exists(v, v == "verdict.classification")', false],
    ['incident.raw_data.verdict == 1', false],
    ['incident.raw_data["verdict"] == 1', false],
    ['// verdict\n true', false],
    ['verdict ==', true],
    ['', true],
  ])('says of %j: %s', (condition, expected) => {
    expect(readsVerdict(condition)).toBe(expected);
  });
});

describe('stepsUnderVerdict', () => {
  it('names the steps that read the verdict, and those that read the results of such steps', () => {
    const steps = [
      step('free', 'incident.severity == "high"'),
      step('asks', 'verdict.classification == "malicious"'),
      step('follows', 'has(steps.asks.result)'),
      step('tells', undefined, 'It was {{ steps["follows"].result.message }}'),
      step('apart', 'has(steps.free.result)', 'verdict {{ "verdict" }}'),
      step('last', '!has(steps.tells.result)'),
    ];
    expect([...stepsUnderVerdict(steps)]).toEqual(['asks', 'follows', 'tells', 'last']);
  });

  it('names a step that cannot be read', () => {
    expect([...stepsUnderVerdict([step('a', 'x ='), step('b', undefined, '{{ x')])]).toEqual([
      'a',
      'b',
    ]);
  });
});
