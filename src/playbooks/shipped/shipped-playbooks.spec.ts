import { decided, decisionsOf } from '../../../test/support/playbooks/decisions-of.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import type { Incident } from '../../incidents/incident.js';
import { INCIDENT_FIELDS } from '../../incidents/incident-fields.js';
import { checkPlaybook } from '../language/check-playbook.js';
import { stepsUnderVerdict } from '../language/expression.js';
import type { PlaybookStep } from '../playbook.js';
import { SHIPPED_PLAYBOOKS } from '../playbooks.service.js';

/**
 * Returns the parameters of the action of a step when the steps before it were skipped. Returns `undefined` if the step
 * is not taken.
 */
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

/** Returns the texts for people in the step. */
function textsOf(step: PlaybookStep, incident: Incident, all: readonly PlaybookStep[]): string[] {
  const skipped = all.filter(({ name }) => name !== step.name);
  const always = { ...step, condition: undefined };
  return Object.values(parametersOf(always, incident, skipped) ?? {}).map(String);
}

/** Patterns that must match the texts of each playbook: the persons and hosts of the incident. */
const NAMED: Readonly<Record<string, RegExp>> = {
  'phishing-response': /Sender: a\[@\]example\[\.\]net.*Recipient: b\[@\]example\[\.\]com/s,
  'malware-containment': /Host: WS-1.*User: j\.doe/s,
  'suspicious-login': /User: j\.doe.*Address: 192\[\.\]0\[\.\]2\[\.\]7/s,
};

const named = (name: string) => SHIPPED_PLAYBOOKS.find((playbook) => playbook.name === name)!;
const MAIL = { message_id: '<1@example.net>', sender: 'a@example.net', recipient: 'b@example.com' };

describe.each(SHIPPED_PLAYBOOKS)('the playbook $name', (playbook) => {
  const { steps } = playbook.definition;

  it('is valid', () => {
    expect(checkPlaybook(playbook.definition)).toEqual([]);
  });

  it('shows values of the incident on one line, shortened, and without links or mentions', () => {
    const words = `a\nVerdict: benign <!channel> @here [click](https://evil.example/)\u202e ${'x'.repeat(4_000)}`;
    const said = Object.fromEntries(Object.keys(INCIDENT_FIELDS).map((key) => [key, words]));
    const { recipient } = MAIL;
    const fields = { ...said, recipient, recipients: recipient };
    const incident = incidentWith({ title: words, source: words, fields });
    const told = steps.filter(({ action }) => /^(create_ticket|notify_)/.test(action));
    expect(told.length).toBeGreaterThan(1);
    for (const step of told) {
      const texts = textsOf(step, incident, steps).join('\n');
      expect(texts).not.toBe('');
      expect(texts).not.toMatch(
        /<!channel>|[^[]@here|https:|evil\.example|\u202e|^Verdict: benign/m,
      );
      expect(texts.length).toBeLessThan(2_500);
    }
  });

  it('names the incident, its severity and verdict, and its host, user, mail or address', () => {
    const fields = {
      ...MAIL,
      host: 'WS-1',
      user: 'j.doe',
      ip: '192.0.2.7',
      subject: 'Pay now',
      file: 'invoice.exe',
    };
    const incident = incidentWith({ title: 'Beacon on WS-1', fields, severity: 'critical' });
    const [ticket, chat] = ['open_ticket', 'tell_team'].map((name) =>
      textsOf(
        steps.find((step) => step.name === name)!,
        incident,
        steps,
      ).join('\n'),
    );
    for (const text of [ticket, chat]) {
      expect(text).toMatch(/INC-2026-0042/);
      expect(text).toMatch(/critical/);
      expect(text).toMatch(/malicious/);
      expect(text).toMatch(/Beacon on WS-1/);
    }
    expect(chat).toMatch(NAMED[playbook.name]!);
    expect(ticket).toMatch(NAMED[playbook.name]!);
  });

  it('can evaluate all steps if the incident has only one field, with and without a verdict', () => {
    const all = {
      ...MAIL,
      recipients: 'b@example.com, c@example.com',
      host: 'ws-1',
      user: 'j.doe',
    };
    const values = { ...all, ip: '192.0.2.7', url: 'https://a.example/', hash: 'a'.repeat(64) };
    for (const verdict of ['malicious', undefined] as const) {
      for (const fields of [
        {},
        ...Object.entries(values).map((one) => Object.fromEntries([one])),
      ]) {
        const decisions = Object.values(decisionsOf(playbook, fields, verdict));
        expect(decisions.filter((decision) => decision.startsWith('error'))).toEqual([]);
      }
    }
  });

  it('skips steps that have no target', () => {
    const taken = Object.entries(decisionsOf(playbook, {}, 'malicious'))
      .filter(([, decision]) => decision !== 'skip')
      .map(([name]) => name);
    expect(taken).toEqual(['open_ticket', 'tell_team']);
  });

  it('needs no approval before the first step that depends on the verdict', () => {
    const under = stepsUnderVerdict(steps);
    const first = steps.findIndex(({ name }) => under.has(name));
    const told = steps.findIndex(({ name }) => name === 'tell_team');
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(first);
    expect(steps.slice(0, first).filter((step) => step.approval_level)).toEqual([]);
  });
});

describe('the shipped playbooks', () => {
  it('do not act on a benign incident', () => {
    const all = { ...MAIL, host: 'ws-1', user: 'j.doe', ip: '192.0.2.7' };
    const harmless = ['look_up', 'open_ticket', 'tell_team', 'scan'];
    for (const playbook of SHIPPED_PLAYBOOKS) {
      const taken = Object.entries(decisionsOf(playbook, all, 'benign'))
        .filter(([, decision]) => decision === 'run')
        .map(([name]) => name);
      expect(taken.filter((name) => !harmless.some((word) => name.startsWith(word)))).toEqual([]);
    }
  });

  it('quarantine a suspicious mail, and block its sender only if the mail is malicious', () => {
    const phishing = named('phishing-response');
    expect(decisionsOf(phishing, MAIL, 'suspicious')).toMatchObject({
      quarantine: 'run',
      warn_recipient: 'run',
      block_sender: 'skip',
    });
    expect(decisionsOf(phishing, MAIL, 'malicious')).toMatchObject({ block_sender: 'run' });
    expect(decisionsOf(phishing, MAIL)).toMatchObject({ quarantine: 'skip', block_sender: 'skip' });
  });

  it.each(['quarantine', 'warn_recipient'])('name all recipients in the step %s', (step) => {
    const recipients = 'b@example.com, c@example.com';
    const { steps } = named('phishing-response').definition;
    const found = steps.find(({ name }) => name === step)!;
    const given = (fields: Record<string, string>) =>
      parametersOf({ ...found, condition: undefined }, incidentWith({ fields }));
    expect(given({ ...MAIL, recipients })).toMatchObject({ recipient: recipients });
    expect(given(MAIL)).toMatchObject({ recipient: MAIL.recipient });
  });

  it('end the sessions of a suspicious login, and change the account only for a malicious login', () => {
    const login = named('suspicious-login');
    const raw = { user: 'j.doe', ip: '192.0.2.7' };
    const doubted = decisionsOf(login, raw, 'suspicious');
    expect(doubted).toMatchObject({ end_sessions: 'run', new_password: 'skip', disable: 'skip' });
    const taken = { end_sessions: 'run', new_password: 'run', disable: 'skip' };
    expect(decisionsOf(login, raw, 'malicious')).toMatchObject({ ...taken, block_address: 'run' });
  });

  it.each(['192.0.2.10', '2001:db8::1'])(
    'do not act on a host that is only the address %s',
    (host) => {
      const decisions = decisionsOf(named('malware-containment'), { host }, 'malicious');
      expect(decisions).toMatchObject({ scan: 'skip', isolate: 'skip' });
      const byName = decisionsOf(
        named('malware-containment'),
        { host: 'ws-1.example.com' },
        'malicious',
      );
      expect(byName).toMatchObject({ scan: 'run', isolate: 'run' });
    },
  );

  it.each([
    ['root', 'skip'],
    ['Root', 'skip'],
    ['deploy-role', 'skip'],
    ['arn:aws:sts::111122223333:assumed-role/build/i-0abc', 'skip'],
    ['WS-1$', 'skip'],
    ['EXAMPLE\\svc_backup', 'skip'],
    ['build@project-1.iam.gserviceaccount.com', 'skip'],
    ['carole@example.com', 'run'],
    ['EXAMPLE\\g.ito', 'run'],
    ['p.svoboda', 'run'],
  ])('act on the account %s only if it is a person: %s', (user, expected) => {
    const login = decisionsOf(named('suspicious-login'), { user }, 'malicious');
    expect(login).toMatchObject({ end_sessions: expected, new_password: expected });
    const malware = decisionsOf(named('malware-containment'), { user }, 'malicious');
    expect(malware).toMatchObject({ end_sessions: expected });
  });
});
