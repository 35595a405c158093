import { stepsReadBy } from './steps-read.js';

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
