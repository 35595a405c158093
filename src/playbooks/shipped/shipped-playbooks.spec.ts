import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decided } from '../../../test/support/playbooks/decided.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import type { Classification, Incident } from '../../incidents/incident.js';
import { checkPlaybook } from '../language/check-playbook.js';
import { decideStep } from '../language/decide-step.js';
import type { StepOutcome } from '../language/playbook-definition.js';
import { valuesOf, withOutcomes } from '../language/step-context.js';
import { stepsUnderVerdict } from '../language/verdict-readers.js';
import type { PlaybookStep } from '../playbook.js';
import { SHIPPED_PLAYBOOKS } from './shipped-playbooks.js';
import type { ShippedPlaybook } from './shipped-playbook.js';

const SAMPLES = 'test/fixtures/webhooks/presets';

/** What each preset lifts from the samples of its tool. */
function lifted(): { sample: string; rawData: Record<string, unknown> }[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.expected.json'))
    .flatMap((sample) => {
      const text = readFileSync(join(SAMPLES, sample), 'utf8');
      const events = JSON.parse(text) as { lift?: Record<string, unknown> }[];
      return events.map(({ lift = {} }) => ({ sample, rawData: lift }));
    });
}

/** The run of a playbook whose actions all do what they say. */
function decisionsOf(
  { definition }: ShippedPlaybook,
  rawData: object,
  classification?: Classification,
): Record<string, string> {
  const verdict = classification && { classification, decided_by: 'system' };
  const incident = incidentWith({ rawData: JSON.stringify(rawData), verdict });
  const steps: Record<string, StepOutcome> = {};
  const decisions: Record<string, string> = {};
  const values = valuesOf({ incident, variables: definition.variables });
  for (const [position, { name }] of definition.steps.entries()) {
    const decided = decideStep(definition.steps, position, withOutcomes(values, steps));
    decisions[name] = decided.kind === 'error' ? `error: ${decided.message}` : decided.kind;
    const result = { success: true, message: 'Done.' };
    steps[name] = decided.kind === 'run' ? { result } : {};
  }
  return decisions;
}

/** What the action of a step is given when the steps before it were skipped; undefined when it is not taken. */
function parametersOf(
  step: PlaybookStep,
  incident: Incident,
  skipped: readonly PlaybookStep[] = [],
): object | undefined {
  const steps = Object.fromEntries(skipped.map(({ name }) => [name, {}]));
  const variables = { channel: '#soc', ticket_priority: 'high' };
  const decision = decided(step, { incident, variables, steps });
  return decision.kind === 'run' ? decision.parameters : undefined;
}

const named = (name: string) => SHIPPED_PLAYBOOKS.find((playbook) => playbook.name === name)!;
const MAIL = { message_id: '<1@example.net>', sender: 'a@example.net', recipient: 'b@example.com' };

describe.each(SHIPPED_PLAYBOOKS)('the playbook $name', (playbook) => {
  const { steps } = playbook.definition;

  it('can be saved', () => {
    expect(checkPlaybook(playbook.definition)).toEqual([]);
  });

  it('fits what every preset lifts, whatever the verdict', () => {
    const samples = lifted();
    expect(samples.length).toBeGreaterThan(40);
    for (const { sample, rawData } of samples) {
      for (const verdict of ['malicious', 'benign', undefined] as const) {
        const decisions = Object.entries(decisionsOf(playbook, rawData, verdict));
        const failed = decisions.filter(([, decision]) => decision.startsWith('error'));
        expect([sample, failed]).toEqual([sample, []]);
      }
    }
  });

  it('tells people no words that strangers have written', () => {
    const words = '<!channel> @here [click](https://evil.example/)\u202e';
    const keys = lifted().flatMap(({ rawData }) => Object.keys(rawData));
    const said = Object.fromEntries(keys.map((key) => [key, words]));
    const rawData = JSON.stringify({ ...said, recipient: MAIL.recipient });
    const incident = incidentWith({ title: words, source: words, rawData });
    const told = steps.filter(({ action }) => /^(create_ticket|notify_)/.test(action));
    expect(told.length).toBeGreaterThan(1);
    for (const step of told) {
      const skipped = steps.filter(({ name }) => name !== step.name);
      const parameters = parametersOf({ ...step, condition: undefined }, incident, skipped);
      expect(Object.values(parameters ?? {})).not.toHaveLength(0);
      expect(Object.values(parameters ?? {}).join()).not.toMatch(/channel>|evil|\u202e/);
    }
  });

  it('skips what there is nothing to be done to', () => {
    const taken = Object.entries(decisionsOf(playbook, {}, 'malicious'))
      .filter(([, decision]) => decision !== 'skip')
      .map(([name]) => name);
    expect(taken).toEqual(['open_ticket', 'tell_team']);
  });

  it('asks nobody before the first step that a verdict decides', () => {
    const under = stepsUnderVerdict(steps);
    const first = steps.findIndex(({ name }) => under.has(name));
    const told = steps.findIndex(({ name }) => name === 'tell_team');
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(first);
    expect(steps.slice(0, first).filter((step) => step.approval_level)).toEqual([]);
  });
});

describe('the shipped playbooks', () => {
  /** The rows of the table in docs/playbooks.md: a format, and the expressions that find something in its events. */
  const rows = readFileSync('docs/playbooks.md', 'utf8')
    .split('\n')
    .filter((line) => /^\| `\w+` +\| `incident\.raw_data\./.test(line))
    .map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code!));

  it.each(rows.flatMap(([format, ...expressions]) => expressions.map((one) => [one, format!])))(
    'can be changed to read %s, where an event of %s has it',
    (expression, format) => {
      const parameters = { host_id: `{{ ${expression} }}` };
      const step = { name: 'a', action: 'isolate_host', parameters, on_error: 'stop' } as const;
      expect(checkPlaybook({ variables: {}, steps: [step] })).toEqual([]);
      const folder = join('test/fixtures/webhooks/formats', format);
      const found = readdirSync(folder)
        .map((file) => incidentWith({ rawData: readFileSync(join(folder, file), 'utf8') }))
        .filter((incident) => parametersOf(step, incident));
      expect(found).not.toEqual([]);
    },
  );

  it('leave alone what was found benign', () => {
    const all = { ...MAIL, host: 'ws-1', user: 'j.doe', ip: '192.0.2.7' };
    const harmless = ['look_up', 'open_ticket', 'tell_team', 'scan'];
    for (const playbook of SHIPPED_PLAYBOOKS) {
      const taken = Object.entries(decisionsOf(playbook, all, 'benign'))
        .filter(([, decision]) => decision === 'run')
        .map(([name]) => name);
      expect(taken.filter((name) => !harmless.some((word) => name.startsWith(word)))).toEqual([]);
    }
  });

  it('take a suspicious mail out of the mailbox, and block only who sent a malicious one', () => {
    const phishing = named('phishing-response');
    expect(decisionsOf(phishing, MAIL, 'suspicious')).toMatchObject({
      quarantine: 'run',
      warn_recipient: 'run',
      block_sender: 'skip',
    });
    expect(decisionsOf(phishing, MAIL, 'malicious')).toMatchObject({ block_sender: 'run' });
    expect(decisionsOf(phishing, MAIL)).toMatchObject({ quarantine: 'skip', block_sender: 'skip' });
  });

  it('end sessions on a suspicion, and change accounts only of a malicious login', () => {
    const login = named('suspicious-login');
    const raw = { user: 'j.doe', ip: '192.0.2.7' };
    const doubted = decisionsOf(login, raw, 'suspicious');
    expect(doubted).toMatchObject({ end_sessions: 'run', new_password: 'skip', disable: 'skip' });
    const taken = { end_sessions: 'run', new_password: 'run', disable: 'skip' };
    expect(decisionsOf(login, raw, 'malicious')).toMatchObject({ ...taken, block_address: 'run' });
  });
});
