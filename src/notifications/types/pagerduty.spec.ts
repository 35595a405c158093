import {
  type Channel,
  channelOf,
  describeChannelTroubles,
} from '../../../test/support/notifications/channel-troubles.js';
import {
  INCIDENT_ID,
  messageAbout,
  messageWith,
} from '../../../test/support/notifications/messages.js';
import { PagerDutyServer } from '../../../test/support/vendors/pagerduty-server.js';
import { shortenWaits } from '../../../test/support/vendors/vendor-site.js';
import type { EventName } from '../notification.js';
import { pagerDuty } from './pagerduty.js';

const INCIDENT = `incident:${INCIDENT_ID}`;
const MAIL = {
  title: 'Phishing',
  incident_type: 'phishing',
  severity: 'high',
  source: 'mail',
  recommended_actions: [],
};
const ACTION = { action_type: 'isolate_host', target: 'WS-042', requested_by: 'alice' };
const BY_SYSTEM = { classification: 'malicious', decided_by: 'system' };
const BY_ALICE = { classification: 'malicious', decided_by: 'alice' };

describe('a PagerDuty channel', () => {
  shortenWaits();
  const server = new PagerDutyServer();
  let channel: Channel;

  const send = async (event: EventName, payload: object, subject_id = 'act-1') => {
    const of = event.startsWith('incident') || event.startsWith('triage');
    const source = { payload, ...(of ? {} : { subject_id }) };
    expect(await channel.deliver(messageAbout(event, source))).toEqual({ kind: 'delivered' });
  };

  beforeAll(async () => {
    await server.start();
    channel = channelOf(pagerDuty, { routing_key: server.routingKey, base_url: `${server.url}/` });
  });
  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(() => server.stop());

  it('triggers one alert per incident, acknowledges it after the triage of a person, and resolves it', async () => {
    await send('incident.created', MAIL);
    await send('incident.created', MAIL);
    await send('incident.triaged', { ...MAIL, verdict: BY_SYSTEM, triaged_by: 'alice' });
    expect([...server.alerts]).toEqual([[INCIDENT, 'triggered']]);
    await send('incident.triaged', { ...MAIL, verdict: BY_ALICE, triaged_by: 'alice' });
    expect([...server.alerts]).toEqual([[INCIDENT, 'acknowledged']]);
    await send('incident.resolved', { ...MAIL, resolved_by: 'alice' });
    expect([...server.alerts]).toEqual([[INCIDENT, 'resolved']]);
  });

  it.each([
    [{ ...MAIL, triaged_by: 'alice' }, 'acknowledge'],
    [{ ...MAIL, triaged_by: 'alice', verdict: BY_SYSTEM }, 'trigger'],
  ])('given the triage %j, sends the event action %s', async (payload, action) => {
    await send('incident.triaged', payload);
    expect(server.events[0]).toMatchObject({ event_action: action, dedup_key: INCIDENT });
  });

  it('pages nobody about a resolved incident until it is reopened', async () => {
    const resolved = { ...MAIL, status: 'resolved' };
    const raised = { severity: 'critical', previous_severity: 'low', changed_by: 'bob' };
    const later: [EventName, object][] = [
      ['incident.triaged', { verdict: BY_SYSTEM, triaged_by: 'alice' }],
      ['incident.severity_changed', raised],
      ['triage.failed', { triage_id: 't' }],
    ];
    await send('incident.resolved', { ...resolved, resolved_by: 'alice' });
    for (const [event, more] of later) await send(event, { ...resolved, ...more });
    expect(server.events.map(({ event_action }) => event_action)).toEqual(['resolve']);
    const status = 'triaged';
    await send('incident.reopened', { ...MAIL, status, reopened_by: 'bob' });
    expect([...server.alerts]).toEqual([[INCIDENT, 'triggered']]);
    for (const [event, more] of later) await send(event, { ...MAIL, status, ...more });
    expect(server.events).toHaveLength(5);
  });

  it('pages people about an approval although they have acknowledged the incident', async () => {
    await send('incident.created', MAIL);
    await send('incident.triaged', { ...MAIL, triaged_by: 'alice' });
    await send('action.pending_approval', { ...ACTION, approval_level: 'senior' });
    expect([...server.alerts]).toEqual([
      [INCIDENT, 'acknowledged'],
      ['action:act-1', 'triggered'],
    ]);
    await send('action.completed', ACTION);
    expect(server.alerts.get('action:act-1')).toBe('resolved');
  });

  it('pages people about a failed action even if they have acknowledged its approval, and resolves the alert of the approval', async () => {
    const failed = { ...ACTION, approval_level: 'senior', approved_by: 'carol' };
    await send('action.pending_approval', { ...ACTION, approval_level: 'senior' });
    server.alerts.set('action:act-1', 'acknowledged');
    await send('action.failed', failed);
    expect([...server.alerts]).toEqual([
      ['action:act-1', 'resolved'],
      ['action_failed:act-1', 'triggered'],
    ]);
  });

  it('sends the alert of a failed action again if the alert of its approval could not be resolved', async () => {
    const failed = { ...ACTION, approval_level: 'senior' };
    const message = messageAbout('action.failed', {
      payload: failed,
      subject_id: 'act-1',
    });
    server.play(202, 500);
    expect(await channel.deliver(message)).toMatchObject({ kind: 'failed' });
    expect(await channel.deliver(message)).toEqual({ kind: 'delivered' });
    expect([...server.alerts]).toEqual([['action_failed:act-1', 'triggered']]);
  });

  it('triggers an alert for a raised severity, but not for a lowered severity', async () => {
    const raised = {
      ...MAIL,
      severity: 'critical',
      previous_severity: 'medium',
      changed_by: 'bob',
    };
    const lowered = { ...MAIL, severity: 'low', previous_severity: 'critical', changed_by: 'bob' };
    await send('incident.severity_changed', lowered);
    expect([...server.alerts]).toEqual([]);
    await send('incident.severity_changed', raised);
    expect([...server.alerts]).toEqual([[INCIDENT, 'triggered']]);
    expect(server.events.at(-1)!.payload).toMatchObject({ severity: 'critical' });
    await send('incident.severity_changed', lowered);
    expect([...server.alerts]).toEqual([[INCIDENT, 'acknowledged']]);
    await send('incident.deleted', { ...MAIL, deleted_by: 'admin' });
    expect([...server.alerts]).toEqual([[INCIDENT, 'resolved']]);
  });

  it('resolves the alerts of a connector and of a channel that work again', async () => {
    const named = { name: 'edr', type: 'http', message: 'x' };
    const since = '2026-01-31T09:00:00.000Z';
    const kinds = [
      ['connector', 'connector:act-1'],
      ['notification_channel', 'notification_channel:act-1'],
    ] as const;
    for (const [kind, key] of kinds) {
      await send(`${kind}.unhealthy`, { ...named, failing_since: since });
      expect(server.alerts.get(key)).toBe('triggered');
      await send(`${kind}.recovered`, { ...named, unhealthy_since: since });
      expect(server.alerts.get(key)).toBe('resolved');
    }
    expect(server.alerts.size).toBe(2);
  });

  it.each<[EventName, object, string | undefined]>([
    ['triage.failed', { ...MAIL, triage_id: 't' }, 'triggered'],
    ['action.failed', ACTION, 'triggered'],
    ['action.rejected', ACTION, undefined],
    ['kill_switch.activated', { by: 'alice', reason: 'wrong hosts' }, 'triggered'],
    ['kill_switch.deactivated', { by: 'alice', reason: 'mended' }, undefined],
    ['connector.unhealthy', { name: 'edr', type: 'http', message: 'no' }, 'triggered'],
    [
      'notification_channel.unhealthy',
      { name: 'soc', type: 'slack', message: 'no', failing_since: '2026-01-31T09:00:00.000Z' },
      'triggered',
    ],
    ['notification.test', { message: 'This is a test of the channel soc.' }, 'triggered'],
  ])(
    'given only the event %s, leaves one open alert or no alert',
    async (event, payload, state) => {
      await send(event, payload);
      expect([...server.alerts.values()]).toEqual(state ? [state] : []);
    },
  );

  it.each<[EventName, object, string]>([
    ['incident.created', { ...MAIL, severity: 'critical' }, 'critical'],
    ['incident.created', MAIL, 'error'],
    ['incident.created', { ...MAIL, severity: 'medium' }, 'warning'],
    ['incident.created', { ...MAIL, severity: 'low' }, 'info'],
    ['kill_switch.activated', { by: 'alice', reason: 'wrong hosts' }, 'critical'],
    ['connector.unhealthy', { name: 'edr', type: 'http', message: 'no' }, 'warning'],
    ['notification.test', { message: 'A test.' }, 'info'],
  ])('given %s with %j, sends the severity %s', async (event, payload, severity) => {
    await send(event, payload);
    expect(server.events[0]!.payload!.severity).toBe(severity);
  });

  it('sends headline, facts, request and link', async () => {
    await send('action.pending_approval', {
      ...ACTION,
      target: 'https://evil.example\r\n<b>',
      approval_level: 'senior',
      severity: 'high',
    });
    const shown = 'hxxps://evil[.]example <b>';
    const url = 'https://triage.example.com/docs?action=act-1';
    expect(server.events[0]).toMatchObject({
      payload: {
        summary: `[high] Approval needed: isolate_host for INC-2026-0042 - ${shown}`,
        class: 'action.pending_approval',
        timestamp: '2026-01-31T09:30:00.000Z',
        custom_details: {
          Severity: 'high',
          'Approval level': 'senior',
          'To do': 'It waits for approval at level senior or higher.',
        },
      },
      client_url: url,
      links: [{ href: url, text: 'Open in the triage service' }],
    });
  });

  it('keeps the limits of PagerDuty when all texts are long', async () => {
    const long = 'a.b.'.repeat(10_000);
    await send('connector.unhealthy', { name: long, type: long, message: long });
    expect(server.events).toHaveLength(1);
  });

  it('fails if PagerDuty does not accept the routing key', async () => {
    const other = channelOf(pagerDuty, { routing_key: 'x'.repeat(32), base_url: server.url });
    const why = 'PagerDuty does not accept the routing key.';
    const message = messageAbout('incident.created', { payload: MAIL });
    expect(await other.deliver(message)).toEqual({ kind: 'failed', why });
  });

  describeChannelTroubles(() => {
    const about = messageAbout('notification.test', { payload: { message: 'A test.' } });
    const whole: Channel = {
      deliver: (_, given) => channel.deliver({ ...messageWith(), event: about.event }, given),
    };
    return { server, channel: whole, arrived: () => server.events.length };
  });
});
