import {
  type Channel,
  channelOf,
  describeChannelTroubles,
} from '../../../test/support/notifications/channel-troubles.js';
import { messageAbout, messageWith } from '../../../test/support/notifications/messages.js';
import { TeamsServer } from '../../../test/support/vendors/teams-server.js';
import { shortenWaits } from '../../../test/support/vendors/vendor-site.js';
import { teams } from './teams.js';

describe('a Teams channel', () => {
  shortenWaits();
  const server = new TeamsServer();
  let channel: Channel;

  beforeAll(async () => {
    await server.start();
    channel = channelOf(teams, { webhook_url: server.hook });
  });
  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(() => server.stop());

  it('sends headline, facts, request and link', async () => {
    const payload = { action_type: 'isolate_host', target: 'WS-042', requested_by: 'alice' };
    const message = messageAbout('action.pending_approval', {
      subject_id: 'act-1',
      payload: {
        ...payload,
        approval_level: 'senior',
        severity: 'high',
        incident_title: 'Beacon',
        reason: 'ransomware note seen',
        expires_at: '2026-01-31T13:30:00.000Z',
      },
    });
    await channel.deliver(message);
    expect(server.shown).toEqual([
      '[high] Approval needed: isolate_host for INC-2026-0042 - WS-042',
      'Reason: ransomware note seen',
      'Incident: Beacon',
      'Severity: high',
      'Requested by: alice',
      'Approval level: senior',
      'Action: act-1',
      'It waits for approval at level senior or higher, until 2026-01-31T13:30:00.000Z.',
    ]);
    const [{ content }] = server.messages[0]!.attachments;
    expect(content.actions).toMatchObject([
      { url: 'https://triage.example.com/docs?action=act-1' },
    ]);
  });

  it.each([
    ['[Log in](https://evil.example)', '[Log in](hxxps://evil[.]example)'],
    ['![x](https://evil.example/p.png)', '![x](hxxps://evil[.]example/p.png)'],
    ['**bold**\r- one\r- two', '**bold** - one - two'],
    ['<at>everyone</at> <b>x</b>', '<at>everyone</at> <b>x</b>'],
    ['{{DATE(2017-02-14T06:00:00Z)}}', '{ {DATE(2017-02-14T06:00:00Z)}}'],
    ['{{{{a}} ${$root}', '{ { { {a}} $ {$root}'],
  ])('shows %j as text without Markdown', async (value, shown) => {
    const message = messageWith({ headline: value, facts: { Title: value } });
    expect(await channel.deliver(message)).toEqual({ kind: 'delivered' });
    expect(server.shown).toEqual([`[high] ${shown}`, `Title: ${shown}`]);
  });

  it('keeps the limits of Teams when all texts are long', async () => {
    const value = '{"\u4e16'.repeat(10_000);
    const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`Title ${n}`, value]));
    const outcome = await channel.deliver(messageWith({ headline: value, facts }));
    expect(outcome).toEqual({ kind: 'delivered' });
  });

  it('fails while the workflow is turned off', async () => {
    const error = { code: 'WorkflowTriggerIsNotEnabled', message: 'The trigger is not enabled.' };
    server.play({ status: 400, body: { error } }, { status: 400, body: null });
    const turnedOff = { kind: 'failed', why: 'The workflow is turned off.' };
    expect(await channel.deliver(messageWith())).toEqual(turnedOff);
    expect(await channel.deliver(messageWith())).toMatchObject({ kind: 'refused' });
  });

  it('fails if its URL has the signature of another workflow', async () => {
    const other = channelOf(teams, { webhook_url: server.hook.replace(/sig=.*/, 'sig=other') });
    expect(await other.deliver(messageWith())).toMatchObject({
      kind: 'failed',
      why: 'The receiver answered with status 401.',
    });
  });

  it.each([
    ['words', { status: 200, text: 'Webhook message delivery failed with error 403' }, 'failed'],
    ['words with status 202', { status: 202, text: 'queued' }, 'failed'],
    ['JSON of an own response', { status: 200, body: { ok: true } }, 'delivered'],
    ['nothing', { status: 204 }, 'delivered'],
  ])('decides from a response with %s whether the message is delivered', async (_, reply, kind) => {
    server.play(reply);
    expect(await channel.deliver(messageWith())).toMatchObject({ kind });
  });

  describeChannelTroubles(() => ({ server, channel, arrived: () => server.messages.length }));
});
