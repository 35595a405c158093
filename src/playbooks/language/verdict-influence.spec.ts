import type { PlaybookStep } from './playbook-definition.js';
import { decidedByVerdict } from './verdict-influence.js';

const step = (name: string, condition?: string, reason = 'because'): PlaybookStep => ({
  name,
  action: 'block_sender',
  parameters: { sender: 'evil@example.net', reason },
  ...(condition !== undefined && { condition }),
  on_error: 'stop',
});

const decided = (...steps: PlaybookStep[]) => [...decidedByVerdict(steps)];

describe('the steps that a verdict decides about', () => {
  it('are those whose condition reads it', () => {
    const steps = [step('a'), step('b', 'verdict.confidence > 0.9'), step('c', 'true')];
    expect(decided(...steps)).toEqual(['b']);
  });

  it('are not those that only speak of it', () => {
    expect(decided(step('a', 'incident.title == "verdict"'))).toEqual([]);
  });

  it('are those that read what such a step came to, however far', () => {
    const steps = [
      step('a', 'has(verdict.category)'),
      step('b', '!has(steps.a)'),
      step('c', undefined, '{{ has(steps.b) ? "x" : "y" }}'),
      step('d', 'steps.other.result.success'),
    ];
    expect(decided(...steps)).toEqual(['a', 'b', 'c']);
  });

  it('are those that may read any step after one', () => {
    const steps = [step('a', 'size(steps) == 0'), step('b', 'has(verdict.model)')];
    expect(decided(...steps, step('c', 'size(steps) == 1'))).toEqual(['b', 'c']);
  });
});
