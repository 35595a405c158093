import { messageAbout } from '../../test/support/notifications/messages.js';
import { EVENT_TYPES, type EventName, shownWords } from './notification.js';

const INCIDENT = { title: 'Beacon', incident_type: 'malware', severity: 'high', source: 'edr' };
const ACTION = { action_type: 'isolate_host', target: 'WS-077', requested_by: 'alice' };
const OF_ACTION = 'act-1';
const FAILING = {
  name: 'soc',
  type: 'webhook',
  message: 'The receiver answered with status 500.',
  failing_since: '2026-01-31T09:00:00.000Z',
};

const wordsOf = (event: EventName, payload: object, subject_id = OF_ACTION) =>
  messageAbout(event, { payload, ...(event.startsWith('incident') ? {} : { subject_id }) }).words;
const factsOf = (...of: Parameters<typeof wordsOf>) =>
  Object.fromEntries(Object.entries(wordsOf(...of).facts).filter(([, value]) => value));

describe('the notification texts of events', () => {
  it('state target, reason, requester and deadline of an approval', () => {
    const payload = {
      ...ACTION,
      reason: 'ransomware note seen',
      incident_title: 'Beacon',
      severity: 'high',
      approval_level: 'senior',
      expires_at: '2026-01-31T13:30:00.000Z',
    };
    const facts = factsOf('action.pending_approval', payload);
    // The target is in the headline.
    expect(facts).not.toHaveProperty('Target');
    expect(facts).toMatchObject({
      Reason: 'ransomware note seen',
      Incident: 'Beacon',
      'Requested by': 'alice',
    });
    expect(wordsOf('action.pending_approval', payload).request).toBe(
      'It waits for approval at level senior or higher, until 2026-01-31T13:30:00.000Z.',
    );
  });

  it('name the person who approved or rejected the action', () => {
    const approved = { ...ACTION, approved_by: 'carol', message: 'Done.' };
    expect(factsOf('action.completed', approved)).toMatchObject({ 'Approved by': 'carol' });
    expect(factsOf('action.failed', approved)).toMatchObject({ 'Approved by': 'carol' });
    const rejected = { ...ACTION, rejected_by: 'bob', message: 'Not needed.' };
    expect(factsOf('action.rejected', rejected)).toMatchObject({ 'Rejected by': 'bob' });
    expect(factsOf('action.rejected', rejected)).not.toHaveProperty('Approved by');
  });

  it.each<[EventName, object, string]>([
    ['incident.created', INCIDENT, '[high] New incident: INC-2026-0042 - Beacon'],
    [
      'action.completed',
      { ...ACTION, incident_title: 'Beacon', severity: 'high', simulated: true },
      '[high] Simulated: isolate_host for INC-2026-0042 - WS-077',
    ],
    [
      'action.failed',
      { ...ACTION, simulated: true },
      'Simulated: Action failed: isolate_host for INC-2026-0042 - WS-077',
    ],
    [
      'action.completed',
      {
        ...ACTION,
        action_type: 'create_ticket',
        target: 'INC-2026-0042: Beacon',
        incident_title: 'Beacon',
      },
      'Action completed: create_ticket for INC-2026-0042 - Beacon',
    ],
    [
      'action.completed',
      { ...ACTION, action_type: 'notify_channel', target: '#soc' },
      'Action completed: notify_channel for INC-2026-0042',
    ],
    [
      'kill_switch.activated',
      { by: 'alice', reason: 'Wrong hosts.' },
      'The kill switch is on - Wrong hosts.',
    ],
  ])('of %s with %j have the headline %s', (event, payload, headline) => {
    const subject = event.startsWith('incident') ? {} : { subject_id: OF_ACTION };
    expect(shownWords(messageAbout(event, { payload, ...subject })).headline).toBe(headline);
  });

  it('omit the target of a ticket or a message', () => {
    for (const action_type of ['create_ticket', 'notify_channel', 'notify_user']) {
      expect(factsOf('action.completed', { ...ACTION, action_type })).not.toHaveProperty('Target');
    }
    expect(wordsOf('action.completed', ACTION).about).toBe('WS-077');
  });

  it.each([
    ['outcome_unknown', 'Check at the vendor whether it happened.'],
    ['no_connector', 'No connector provides isolate_host.'],
    ['unreachable', 'Nothing was done.'],
    ['refused', 'Read the message, correct what is wrong'],
    [undefined, 'Read the message, correct what is wrong'],
  ])('say what to do after a failure with the code %s', (code, request) => {
    expect(wordsOf('action.failed', { ...ACTION, code }).request).toContain(request);
  });

  it('name the person who reopened an incident, and the status of the incident', () => {
    const payload = { ...INCIDENT, status: 'triaged', reopened_by: 'bob' };
    expect(wordsOf('incident.reopened', payload).headline).toBe('Incident reopened: INC-2026-0042');
    expect(factsOf('incident.reopened', payload)).toMatchObject({
      Status: 'triaged',
      'Reopened by': 'bob',
    });
  });

  it('combine the reopening of an incident with its raised severity, the report and the previous resolution', () => {
    const payload = {
      ...INCIDENT,
      severity: 'critical',
      status: 'triaged',
      reopened_by: 'system',
      previous_severity: 'high',
      because: 'edr: LSASS read, severity critical',
      resolved_by: 'bob',
      resolved_at: '2026-01-31T09:00:00.000Z',
      resolution: 'A test.',
    };
    expect(wordsOf('incident.reopened', payload).headline).toBe(
      'Reopened and raised from high to critical: INC-2026-0042',
    );
    expect(factsOf('incident.reopened', payload)).toMatchObject({
      Reported: 'edr: LSASS read, severity critical',
      'Was resolved': 'by bob at 2026-01-31T09:00:00.000Z: A test.',
    });
  });

  it('say that an incident stays resolved although its severity rises', () => {
    const payload = { ...INCIDENT, status: 'resolved', previous_severity: 'low', changed_by: 'x' };
    expect(wordsOf('incident.severity_changed', payload).headline).toBe(
      'Severity raised from low to high, but it stays resolved: INC-2026-0042',
    );
  });

  it('give the reason of a higher approval level', () => {
    const payload = {
      ...ACTION,
      approval_level: 'manager',
      level_reason: 'dc-01 is a protected target',
    };
    expect(wordsOf('action.pending_approval', payload).request).toBe(
      'It waits for approval at level manager or higher, because dc-01 is a protected target.',
    );
  });

  it('shorten the path in the message of a failed step, because the path looks like a domain', () => {
    const payload = {
      playbook: 'p',
      playbook_version: 1,
      automatic: true,
      step: 'look',
      message: 'steps.0.parameters.ip at character 20: There is no absent here.',
    };
    expect(factsOf('playbook.step_failed', payload, 'run-1')).toMatchObject({
      Why: 'ip: There is no absent here.',
    });
  });

  it('name the rolled back action type', () => {
    const rollback = { ...ACTION, action_type: 'unisolate_host', rollback_of: 'act-0' };
    for (const event of ['action.pending_approval', 'action.completed'] as const) {
      expect(wordsOf(event, rollback).headline).toMatch(
        /: unisolate_host \(rollback of isolate_host\) for INC-2026-0042$/,
      );
      expect(factsOf(event, rollback)).toMatchObject({ 'Rollback of': 'act-0' });
    }
    expect(wordsOf('action.completed', ACTION).headline).not.toContain('rollback');
    expect(factsOf('action.completed', ACTION)).not.toHaveProperty('Rollback of');
  });

  it.each([
    ['medium', 'critical', 'Severity raised from medium to critical: INC-2026-0042'],
    ['critical', 'low', 'Severity lowered from critical to low: INC-2026-0042'],
  ])('describe a change of severity from %s to %s', (previous_severity, severity, headline) => {
    const payload = { ...INCIDENT, severity, previous_severity, changed_by: 'bob' };
    expect(wordsOf('incident.severity_changed', payload).headline).toBe(headline);
    expect(factsOf('incident.severity_changed', payload)).toMatchObject({ 'Changed by': 'bob' });
  });

  it.each([
    [
      'notification_channel.unhealthy',
      'Notification channel soc does not work - The receiver answered with status 500.',
    ],
    ['connector.unhealthy', 'Connector soc does not work - The receiver answered with status 500.'],
  ] as const)('give the reason in the headline of %s', (event, summary) => {
    expect(shownWords(messageAbout(event, { payload: FAILING })).headline).toBe(summary);
  });

  it.each<[EventName, string, string | undefined]>([
    ['incident.created', '7', 'incident=7'],
    ['action.failed', 'act-7', 'action=act-7'],
    ['connector.recovered', '7', 'connector=7'],
    ['notification_channel.unhealthy', '7', 'notification_channel=7'],
    ['action.completed', 'a/b?c#d', 'action=a%2Fb%3Fc%23d'],
    ['kill_switch.activated', 'kill_switch', ''],
    ['incident.deleted', '7', undefined],
    ['notification.test', '7', undefined],
  ])('link from %s to its page', (event, subject_id, query) => {
    const payload = { ...INCIDENT, ...ACTION, ...FAILING };
    const url = (public_url?: string) =>
      messageAbout(event, { payload, subject_id, public_url }).words.url;
    const page = query && `?${query}`;
    expect(url('https://triage.example.com')).toBe(
      page === undefined ? undefined : `https://triage.example.com/docs${page}`,
    );
    expect(url()).toBeUndefined();
  });

  it('exist for every event', () => {
    for (const event of Object.keys(EVENT_TYPES) as EventName[]) {
      const payload = { ...INCIDENT, ...ACTION, ...FAILING, recommended_actions: [], changed: [] };
      expect(wordsOf(event, payload).headline).not.toBe('');
    }
  });
});

const shown = (value: string) =>
  shownWords({ words: { headline: '', facts: { Title: value } } }).facts[0]!.value;

describe('the shown texts of a message', () => {
  it.each([
    ['an address', 'see https://evil.example/a?b', 'see hxxps://evil[.]example/a?b'],
    ['a domain', 'log in at evil.example now', 'log in at evil[.]example now'],
    ['an address of a mailbox', 'mallory@evil.example', 'mallory[@]evil[.]example'],
    ['an IP address', 'from 192.0.2.7.', 'from 192[.]0[.]2[.]7.'],
    ['another scheme', 'file://server/share', 'file[://]server/share'],
    ['a share of Windows', String.raw`\\server\share`, String.raw`\[\]server\share`],
    ['a domain with invisible characters', 'evil\u200b.exa\u00admple', 'evil[.]example'],
    ['text that changes direction', 'a\u202egpj.exe', 'agpj.exe'],
    ['lines', 'one\r\ntwo\u2028three\tfour', 'one two three four'],
    ['NUL and half a pair', 'a\0b\ud800', 'a b\ufffd'],
    ['nothing', '\u200b\u2060', '(nothing that can be shown)'],
  ])('make %s harmless', (_, given, expected) => expect(shown(given)).toBe(expected));

  it('have a maximum length', () => {
    expect(shown('x'.repeat(1_000_000))).toBe(`${'x'.repeat(299)}…`);
    expect(shown('a.'.repeat(500_000)).length).toBeLessThan(700);
  });

  it('keep the link to the service', () => {
    const url = 'https://triage.example.com/docs?incident=1';
    expect(shownWords({ words: { headline: 'a', facts: {}, url } }).url).toBe(url);
  });

  it('state severity, event and subject in the headline', () => {
    const words = {
      headline: 'New incident: INC-2026-0042',
      about: 'Log in at evil.example',
      facts: {},
    };
    expect(shownWords({ severity: 'high', words }).headline).toBe(
      '[high] New incident: INC-2026-0042 - Log in at evil[.]example',
    );
    expect(shownWords({ words: { headline: 'A test', facts: {} } }).headline).toBe('A test');
  });
});
