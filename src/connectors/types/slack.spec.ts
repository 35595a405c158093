import { SlackServer } from '../../../test/support/vendors/slack-server.js';
import { describeUsualTroubles } from '../../../test/support/vendors/usual-troubles.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { slack } from './slack.js';

describe('SlackConnector', () => {
  const server = new SlackServer();
  const site = useVendor(slack, server);
  const posting = (parameters: object = {}) =>
    callOf('notify_channel', { channel: '#soc', message: 'Hello', ...parameters });
  const post = (parameters: object = {}) => site.execute(posting(parameters));

  it.each(['#soc', 'soc', 'C0123456789'])('posts into %s', async (channel) => {
    expect(await post({ channel })).toEqual({
      kind: 'done',
      message: 'Slack posted the message.',
      data: { channel: 'C0123456789', ts: '1790000000.000001' },
    });
    expect(server.messages).toEqual([{ channel: 'C0123456789', text: 'Hello' }]);
    expect(server.problems).toEqual([]);
  });

  it.each([
    [
      '<!channel> <!here> <@U012> <!subteam^S1>',
      '&lt;!channel&gt; &lt;!here&gt; &lt;@U012&gt; &lt;!subteam^S1&gt;',
    ],
    ['<https://evil.example|Log in>', '&lt;https://evil.example|Log in&gt;'],
    ['&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
    ['"quoted"\n{{ secrets.token }}\u0000\ud800', '"quoted"\n{{ secrets.token }}\ufffd\ufffd'],
  ])('posts %j as plain text', async (message, text) => {
    await post({ message });
    expect(server.messages).toEqual([{ channel: 'C0123456789', text }]);
    expect(server.problems).toEqual([]);
  });

  it.each([
    'U012345678',
    'D012345678',
    '@ada',
    '#soc,#board',
    'soc\nx',
    '',
    'https://x.example',
    '\ud800',
  ])('rejects %j as a channel without a request', async (channel) => {
    expect(await post({ channel })).toMatchObject({ kind: 'refused' });
    expect(server.calls).toEqual([]);
  });

  it('rejects a message that Slack would cut', async () => {
    expect(await post({ message: '<'.repeat(10_001) })).toMatchObject({ kind: 'refused' });
    expect(await post({ message: '<'.repeat(10_000) })).toMatchObject({ kind: 'done' });
    expect(server.calls).toHaveLength(1);
  });

  it('reports a refusal after an error in an answer with status 200', async () => {
    expect(await post({ channel: 'nowhere' })).toEqual({
      kind: 'refused',
      message: 'Slack answered with status 200: channel_not_found.',
    });
  });

  it.each(['fatal_error', 'internal_error', 'request_timeout', 'service_unavailable'])(
    'reports an unknown outcome after %s, because Slack may have posted the message',
    async (error) => {
      server.play({ status: 200, body: { ok: false, error } });
      await expect(post()).rejects.toThrow(OutcomeUnknownError);
      server.play({ status: 200, body: { ok: false, error } });
      await expect(post()).rejects.toThrow(`Slack did not confirm the message: ${error}.`);
    },
  );

  it('in a connection test, checks the token, explains failures, and never shows the token', async () => {
    expect(await site.connector.test()).toMatchObject({
      success: true,
      message: 'Slack accepts the token.',
    });
    expect(server.messages).toEqual([]);
    server.play({ status: 200, body: { ok: false, error: `invalid_auth ${server.token}` } });
    const { success, message } = await site.connector.test();
    expect([success, message]).toEqual([
      false,
      'Slack answered with status 200: invalid_auth [secret].',
    ]);
    expect(await site.connect({ bot_token: 'xoxb-wrong' }).test()).toMatchObject({
      success: false,
      message: 'Slack does not accept the credentials: says 401.',
    });
  });

  describeUsualTroubles('change', () => ({
    ...site,
    call: posting(),
    effects: () => server.messages.length,
  }));
});
