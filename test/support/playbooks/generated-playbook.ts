import type { PlaybookStep } from '../../../src/playbooks/playbook.js';

export { chances } from './random.js';

const CONDITIONS = [
  'true',
  'false',
  'incident.severity == "high"',
  'incident.raw_data.score > 5',
  'has(incident.raw_data.missing)',
  'incident.raw_data.missing == 1',
  'variables.limit > incident.raw_data.score',
  'size(incident.raw_data.hosts) == 2 && incident.raw_data.hosts.exists(h, h == "laptop-7")',
  'verdict.classification == "malicious"',
  'has(verdict.category)',
  'incident.raw_data.sender.contains("examp1e")',
];
const OF_EARLIER = [
  'steps.NAME.result.success',
  '!has(steps.NAME.result)',
  'has(steps.NAME.result) && steps.NAME.result.message.contains("200")',
  '!steps.NAME.result.success',
];
const SENDERS = [
  'a@example.net',
  '{{ incident.raw_data.sender }}',
  '{{ variables.sender }}',
  '{{ incident.raw_data.missing }}',
  '{{ incident.raw_data.hosts }}',
  'x-{{ incident.raw_data.score }}@example.net',
];
const REASONS = [
  '{{ incident.title }}',
  'Limit {{ variables.limit }}',
  '{{ incident.raw_data.score }}',
  '',
];
const LEVELS = [undefined, undefined, undefined, 'analyst', 'manager'] as const;

export const VARIABLES = { limit: 7, sender: 'v@example.net' };
export const RAW_DATA = {
  score: 6,
  hosts: ['laptop-7', 'pc-1'],
  sender: 'ceo@examp1e.example.net',
};

/** Random valid steps of a playbook. */
export function generatedSteps(chance: () => number): PlaybookStep[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)]!;
  const steps: PlaybookStep[] = [];
  const many = 1 + Math.floor(chance() * 6);
  for (let at = 0; at < many; at += 1) {
    const earlier = steps.length > 0 && chance() < 0.3 ? pick(steps) : undefined;
    const ofEarlier = earlier && pick(OF_EARLIER).replaceAll('NAME', earlier.name);
    const condition = ofEarlier ?? (chance() < 0.7 ? pick(CONDITIONS) : undefined);
    const reason = pick(REASONS);
    steps.push({
      name: `s${at}`,
      ...(chance() < 0.75
        ? {
            action: 'block_sender',
            parameters: { sender: pick(SENDERS), ...(reason && { reason }) },
          }
        : { action: 'isolate_host', parameters: { host_id: '{{ incident.raw_data.hosts[0] }}' } }),
      ...(condition !== undefined && { condition }),
      ...withLevel(pick(LEVELS)),
      on_error: chance() < 0.6 ? 'continue' : 'stop',
    });
  }
  return steps;
}

function withLevel(level: (typeof LEVELS)[number]) {
  return level === undefined ? {} : { approval_level: level };
}
