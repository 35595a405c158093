import { decided } from '../../../test/support/playbooks/decided.js';
import { decisionsOf } from '../../../test/support/playbooks/decisions-of.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import type { Incident } from '../../incidents/incident.js';
import { INCIDENT_FIELDS } from '../../incidents/incident-fields.js';
import { checkPlaybook } from '../language/check-playbook.js';
import { stepsUnderVerdict } from '../language/verdict-readers.js';
import type { PlaybookStep } from '../playbook.js';
import { SHIPPED_PLAYBOOKS } from './shipped-playbooks.js';

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

  it('tells people no words that strangers have written', () => {
    const words = '<!channel> @here [click](https://evil.example/)\u202e';
    const said = Object.fromEntries(Object.keys(INCIDENT_FIELDS).map((key) => [key, words]));
    const fields = { ...said, recipient: MAIL.recipient };
    const rawData = JSON.stringify(fields);
    const incident = incidentWith({ title: words, source: words, rawData, fields });
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
