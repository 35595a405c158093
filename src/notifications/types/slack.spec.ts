import {
  type Channel,
  channelOf,
  describeChannelTroubles,
} from '../../../test/support/notifications/channel-troubles.js';
import { messageAbout, messageWith } from '../../../test/support/notifications/messages.js';
import { SlackHookServer } from '../../../test/support/vendors/slack-hook-server.js';
import { shortenWaits, targetsIn } from '../../../test/support/vendors/vendor-site.js';
import { addressProblems, originsOf, secretsNotGivenAgain } from '../../targets/target-check.js';
import { slack } from './slack.js';

describe('a Slack channel', () => {
  shortenWaits();
  const server = new SlackHookServer();
  let channel: Channel;

  beforeAll(async () => {
    await server.start();
    channel = channelOf(slack, { webhook_url: server.hook });
  });
  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(() => server.stop());

  const fieldsWith = async (value: string): Promise<string[]> => {
    const message = messageWith({ headline: value, facts: { Title: value } });
    expect(await channel.deliver(message)).toEqual({ kind: 'delivered' });
    return server.messages[0]!.blocks.flatMap(({ text, fields = [] }) => [
      ...(text ? [text.text] : []),
      ...fields.map((field) => field.text),
    ]);
  };

  it('names the origin of its URL, and no origin if the URL is lost', () => {
    const webhook_url = 'https://hooks.example.com:8443/services/T0/B0/x';
    expect(originsOf(slack.config, { webhook_url })).toEqual(['https://hooks.example.com:8443']);
    expect(originsOf(slack.config, {})).toEqual([]);
  });

  it('accepts another URL without another secret', () => {
    const [before, change] = ['https://a.example/T0', 'https://b.example/T0'].map(
      (webhook_url) => ({ webhook_url }),
    );
    expect(secretsNotGivenAgain(slack.config, before!, change!)).toEqual([]);
  });

  it('sends headline, facts, request and link', async () => {
    const payload = { action_type: 'isolate_host', target: 'WS-042', requested_by: 'alice' };
    const message = messageAbout('action.pending_approval', {
      subject_id: 'act-1',
      payload: { ...payload, approval_level: 'senior', severity: 'high' },
    });
    await channel.deliver(message);
    const [{ text, blocks }] = server.messages as [(typeof server.messages)[0]];
    expect(text).toBe('[high] Approval needed: isolate_host for INC-2026-0042 - WS-042');
    expect(blocks.map(({ type: kind }) => kind)).toEqual([
      'header',
      'section',
      'section',
      'section',
    ]);
    expect(blocks[1]!.fields!.map((field) => field.text)).toEqual(
      expect.arrayContaining(['Severity\nhigh', 'Approval level\nsenior']),
    );
    expect(blocks[2]!.text!.text).toBe('It waits for approval at level senior or higher.');
    expect(blocks[3]!.text!.text).toBe(
      '<https://triage.example.com/docs?action=act-1|Open in the triage service>',
    );
  });

  it.each([
    ['<!channel> <@U012>', '&lt;!channel&gt; &lt;[@]U012&gt;'],
    ['<https://evil.example|Log in>', '&lt;hxxps://evil[.]example|Log in&gt;'],
    ['&lt;!here&gt;', '&amp;lt;!here&amp;gt;'],
    ['*bold* _it_ `code` :siren:', '*bold* _it_ `code` :siren:'],
    ['a\r\n> b\0\ud800', 'a &gt; b \ufffd'],
  ])('shows %j as text without effect', async (value, shown) => {
    expect(await fieldsWith(value)).toEqual([`[high] ${shown}`, `Title\n${shown}`]);
  });

  it('keeps the limits of Slack when all texts are long and escaped', async () => {
    const value = '<&>'.repeat(10_000);
    const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`Title ${n}`, value]));
    const message = messageWith({ headline: value, facts, request: 'Look.' });
    expect(await channel.deliver(message)).toEqual({ kind: 'delivered' });
  });

  it('repeats only the error code of a response of Slack', async () => {
    server.play(410, { status: 404, text: `no ${server.token}` });
    const outcomes = [await channel.deliver(messageWith()), await channel.deliver(messageWith())];
    expect(outcomes).toMatchObject([
      {
        kind: 'failed',
        why: 'The receiver answered with status 410. Slack said channel_is_archived.',
      },
      { kind: 'failed', why: 'The receiver answered with status 404.' },
    ]);
  });

  it('requires https outside of private networks', () => {
    const problems = (webhook_url: string) =>
      addressProblems(slack.config, { webhook_url }, targetsIn(['127.0.0.0/8']));
    expect(problems('http://hooks.example.com/services/T/B/x')).toMatchObject([
      { field: 'config.webhook_url', code: 'https_required' },
    ]);
    expect(problems('https://hooks.example.com/services/T/B/x')).toEqual([]);
    expect(problems(server.hook)).toEqual([]);
  });

  describeChannelTroubles(() => ({ server, channel, arrived: () => server.messages.length }));
});
