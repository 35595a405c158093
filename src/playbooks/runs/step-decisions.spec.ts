import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import type { Incident } from '../../incidents/incident.js';
import { DEFAULT_DEFINITION, type PlaybookDefinition, type PlaybookStep } from '../playbook.js';
import { deciderOf, levelsOf } from './next-move.js';

const BY_VERDICT = 'verdict.classification == "malicious"';

function step(name: string, more: Partial<PlaybookStep> = {}): PlaybookStep {
  return {
    name,
    action: 'lookup_ip',
    parameters: { ip: '{{ incident.raw_data.ip }}' },
    on_error: 'continue',
    ...more,
  };
}

const playbook = (steps: PlaybookStep[], more: Partial<PlaybookDefinition> = {}) => ({
  ...DEFAULT_DEFINITION,
  ...more,
  steps,
});

describe('levelsOf', () => {
  const steps = [
    step('free'),
    step('senior', { approval_level: 'senior' }),
    step('judged', { condition: BY_VERDICT }),
    step('both', { condition: BY_VERDICT, approval_level: 'manager' }),
  ];

  it('returns the levels that the steps define if a person starts the run', async () => {
    const levels = await levelsOf(playbook(steps), false);
    expect(levels).toEqual(['none', 'senior', 'none', 'manager']);
  });

  it('returns at least analyst for a step that reads the verdict in an automatic run', async () => {
    const levels = await levelsOf(playbook(steps), true);
    expect(levels).toEqual(['none', 'senior', 'analyst', 'manager']);
  });

  it('returns the levels that the steps define if a manager trusts the verdict', async () => {
    const trusting = playbook(steps, { trust_verdict: true });
    const levels = await levelsOf(trusting, true);
    expect(levels).toEqual(['none', 'senior', 'none', 'manager']);
  });
});

describe('deciderOf', () => {
  it('parses the raw data once for all steps', async () => {
    let reads = 0;
    const incident: Incident = {
      ...incidentWith(),
      get raw_data() {
        reads += 1;
        return '{"ip": "192.0.2.7"}';
      },
    };
    const definition = playbook(Array.from({ length: 9 }, (_, n) => step(`s${n}`)));
    const version = { id: '0', version: 1, name: 'p', definition };
    const decider = await deciderOf({ playbook: version, incident, variables: {} });
    for (const position of definition.steps.keys()) {
      expect(await decider.decide(position, {})).toEqual({
        kind: 'run',
        parameters: { ip: '192.0.2.7' },
      });
    }
    expect(reads).toBe(1);
  });
});
