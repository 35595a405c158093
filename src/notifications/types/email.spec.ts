import {
  INCIDENT_ID,
  messageAbout,
  messageWith,
} from '../../../test/support/notifications/messages.js';
import { type Channel, channelOf } from '../../../test/support/notifications/channel-troubles.js';
import { readMail, type ShownMail } from '../../../test/support/read-mail.js';
import { SmtpServer, type Step, type Trick } from '../../../test/support/vendors/smtp-server.js';
import { LocalResolver, problemsOf, targetsIn } from '../../../test/support/vendors/vendor-site.js';
import { OutboundSmtp } from '../../platform/net/outbound-smtp.js';
import type { Config } from '../../targets/target-config.js';
import type { Outcome } from '../delivery.js';
import type { Message } from '../notification.js';
import { email } from './email.js';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';
const EVE = 'eve@example.net';
const LOGIN = { user: 'soc', pass: 'mail-password-9' };
const EVENT_ID = messageWith().event.id;
const MEAN =
  '<a href="https://evil.example">x</a> \u202egpj.exe\r\nBcc: mallory@evil.example\r\n\r\n=?utf-8?Q?Hi?= &lt; \0\ud800';
const SHOWN =
  '<a href="hxxps://evil[.]example">x</a> gpj.exe Bcc: mallory[@]evil[.]example =?utf-8?Q?Hi?= &lt; \ufffd';

describe('an email channel', () => {
  let server: SmtpServer;
  let resolver: LocalResolver;
  let channel: Channel;

  const channelWith = (more: object = {}, allowed = ['127.0.0.0/8']): Channel => {
    const config = { host: '127.0.0.1', port: server.port, from: 'soc@example.com', ...more };
    const smtp = new OutboundSmtp(targetsIn(allowed, resolver));
    return channelOf(email, { to: [ADA, BOB, EVE], ...config }, smtp);
  };
  const deliver = async (
    message: Message = messageWith(),
    { to = channel, signal }: { to?: Channel; signal?: AbortSignal } = {},
  ): Promise<Outcome> => await to.deliver(message, signal);
  const mails = (): ShownMail[] => server.mails.map(({ content }) => readMail(content));
  const delivered = async (message: Message): Promise<ShownMail> => {
    expect(await deliver(message)).toEqual({ kind: 'delivered' });
    return mails().at(-1)!;
  };

  beforeAll(async () => {
    server = await SmtpServer.start({ mostRecipients: 20 });
  });
  beforeEach(() => {
    resolver = new LocalResolver();
    server.forget();
    channel = channelWith();
  });
  afterEach(() => expect(server.violations).toEqual([]));
  afterAll(() => server.stop());

  it('sends headline, facts, request and link as plain text', async () => {
    const payload = { action_type: 'isolate_host', target: 'WS-042', requested_by: 'alice' };
    const message = messageAbout('action.pending_approval', {
      subject_id: 'act-1',
      payload: { ...payload, approval_level: 'senior', severity: 'high' },
    });
    const { headers, text } = await delivered(message);
    expect(headers).toEqual({
      from: 'soc@example.com',
      to: `${ADA}, ${BOB}, ${EVE}`,
      subject: '[high] Approval needed: isolate_host for INC-2026-0042 - WS-042',
      'message-id': `<${message.event.id}@example.com>`,
      references: `<${INCIDENT_ID}@example.com>`,
      date: expect.any(String),
      'auto-submitted': 'auto-generated',
      'mime-version': '1.0',
      'content-type': 'text/plain; charset=utf-8',
      'content-transfer-encoding': '7bit',
    });
    expect(text.trim().split('\r\n')).toEqual([
      '[high] Approval needed: isolate_host for INC-2026-0042 - WS-042',
      '',
      'Severity: high',
      'Requested by: alice',
      'Approval level: senior',
      'Action: act-1',
      'When: 2026-01-31T09:30:00.000Z',
      '',
      'It waits for approval at level senior or higher.',
      '',
      'Open in the triage service:',
      'https://triage.example.com/docs?action=act-1',
    ]);
    expect(server.mails).toMatchObject([{ from: 'soc@example.com', to: [ADA, BOB, EVE] }]);
  });

  it('does not let text of third parties add a link, a header or a line', async () => {
    const facts = { Title: MEAN };
    const { headers, text } = await delivered(messageWith({ headline: MEAN, about: MEAN, facts }));
    const subject = `[high] ${SHOWN} - ${SHOWN}`.replaceAll('=?', '= ?');
    expect(headers.subject).toBe(subject);
    expect(Object.keys(headers)).not.toContain('bcc');
    expect(server.commands.join()).not.toContain('mallory');
    expect(text.split('\r\n')).toEqual(
      expect.arrayContaining([`[high] ${SHOWN} - ${SHOWN}`, `Title: ${SHOWN}`]),
    );
  });

  it('keeps the limits of mail when all texts are long', async () => {
    const value = '\u4e16<&>'.repeat(10_000);
    const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`Title ${n}`, value]));
    const { headers } = await delivered(messageWith({ headline: value, facts }));
    expect(headers.subject!.length).toBeLessThanOrEqual(250);
    const lines = server.mails[0]!.content.split('\r\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998);
  });

  it('references the incident in the headers of all its mails', async () => {
    const first = await delivered(messageWith());
    const second = await delivered(messageAbout('incident.created', { event_id: 'another' }));
    expect(second.headers.references).toBe(first.headers.references);
    expect(second.headers['message-id']).not.toBe(first.headers['message-id']);
    const other = await delivered(
      messageAbout('notification.test', { payload: { message: 'A test.' } }),
    );
    expect(other.headers).not.toHaveProperty('references');
  });

  it.each<[Step, string, 'failed' | 'refused']>([
    ['GREETING', '554 5.3.2 no mail here', 'failed'],
    ['GREETING', '421 4.3.2 closing', 'failed'],
    ['MAIL', '550 5.1.8 sender refused', 'failed'],
    ['MAIL', '530 5.7.0 log in first', 'failed'],
    ['RCPT', '550 5.1.1 no such user', 'failed'],
    ['RCPT', '450 4.2.1 later', 'failed'],
    ['DATA', '554 5.6.0 no', 'failed'],
    ['.', '452 4.3.1 no room', 'failed'],
    ['.', '535 5.7.8 not you', 'failed'],
    ['.', '552 5.3.4 too big', 'refused'],
    ['.', '554 5.7.1 looks like spam', 'refused'],
  ])('after the SMTP step %s, treats the reply "%s" as %s', async (step, say, kind) => {
    server.tricks.set(step, { say });
    const why = `The mail server refused: ${say}`;
    expect(await deliver()).toEqual({ kind, why });
    expect([server.connections, server.mails.length]).toEqual([1, 0]);
  });

  it.each(['550 5.1.1 no such user', '451 4.7.1 come again'])(
    'reports the recipients that the server refuses with %s, and sends one copy to the other recipients',
    async (reply) => {
      server.rejections.set(BOB, reply);
      server.rejections.set(EVE, '550 5.1.1 no such user');
      const why = `The mail server refused ${BOB}, ${EVE}: ${reply}. The others have the message.`;
      expect(await deliver()).toEqual({ kind: 'delivered', why });
      expect(server.mails.map(({ to }) => to)).toEqual([[ADA]]);
    },
  );

  it('fails, so that the mail is sent again, if the server refuses all recipients', async () => {
    for (const one of [ADA, BOB, EVE]) server.rejections.set(one, '451 4.7.1 come again');
    expect(await deliver()).toMatchObject({ kind: 'failed' });
  });

  it.each<[Step, Trick]>([
    ['GREETING', 'drop'],
    ['EHLO', 'drop'],
    ['MAIL', 'drop'],
    ['RCPT', 'drop'],
    ['DATA', 'drop'],
    ['.', 'drop'],
    ['EHLO', 'flood'],
    ['GREETING', { say: 'HTTP/1.1 200 OK' }],
  ])('fails when the server fails at %s by %j', async (step, trick) => {
    server.tricks.set(step, trick);
    expect(await deliver()).toMatchObject({ kind: 'failed' });
    expect(server.connections).toBe(1);
    server.tricks.clear();
    // The server may have delivered the message before it failed. So the copy has the same Message-ID.
    await delivered(messageWith());
    expect(new Set(mails().map(({ headers }) => headers['message-id']))).toEqual(
      new Set([`<${EVENT_ID}@example.com>`]),
    );
  });

  it.each<Step>(['GREETING', 'RCPT', '.'])(
    'ends when it is aborted while the server is silent at %s',
    async (step) => {
      server.tricks.set(step, 'hang');
      const giveUp = new AbortController();
      const outcome = deliver(messageWith(), { signal: giveUp.signal });
      await server.untilTricked();
      giveUp.abort();
      expect(await outcome).toMatchObject({ kind: 'failed' });
    },
  );

  it('rejects an address or a name in a private network that is not allowed', async () => {
    for (const host of ['127.0.0.1', 'mail.example.com']) {
      const to = channelWith({ host }, []);
      expect(await deliver(messageWith(), { to })).toMatchObject({ kind: 'failed' });
    }
    expect(server.connections).toBe(0);
  });

  it('connects to the checked address, and resolves the name once', async () => {
    const to = channelWith({ host: 'mail.internal' });
    expect(await deliver(messageWith(), { to })).toEqual({ kind: 'delivered' });
    expect(resolver.lookups).toEqual(['mail.internal']);
  });

  it('sends no mail to a public server without TLS', async () => {
    const to = channelWith({ host: 'mail.example.com' });
    expect(await deliver(messageWith(), { to })).toMatchObject({ kind: 'failed' });
    expect(server.violations.splice(0)).toEqual(['STARTTLS']);
    expect(server.commands.join()).not.toContain('MAIL');
  });

  it('logs in, and masks the plain and the encoded password in a refusal', async () => {
    const guarded = await SmtpServer.start({ mostRecipients: 20, login: LOGIN });
    const withPassword = (password: string) =>
      channelWith({ port: guarded.port, username: LOGIN.user, password });
    try {
      expect(await deliver(messageWith(), { to: withPassword(LOGIN.pass) })).toEqual({
        kind: 'delivered',
      });
      expect(guarded.mails).toMatchObject([{ user: LOGIN.user }]);
      const pass = 'another-password';
      const encoded = Buffer.from(`\0${LOGIN.user}\0${pass}`).toString('base64');
      guarded.tricks.set('AUTH', { say: `535 5.7.8 not ${pass} nor ${encoded}` });
      const outcome = await deliver(messageWith(), { to: withPassword(pass) });
      expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringContaining('535 5.7.8') });
      expect(JSON.stringify(outcome)).not.toContain(pass);
      expect(JSON.stringify(outcome)).not.toContain(encoded);
    } finally {
      await guarded.stop();
    }
  });
});

describe('the configuration of an email channel', () => {
  const CONFIG = { host: 'mail.example.com', from: 'soc@example.com', to: [ADA] };
  const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@example.com`);

  it.each<Config>([
    CONFIG,
    { ...CONFIG, port: 465, secure: true, username: 'soc', password: 'a-password' },
    { ...CONFIG, host: '10.1.2.3', to: people(20) },
  ])('accepts %j', (config) => {
    expect(problemsOf(email, config)).toEqual([]);
  });

  it.each<[Config, string, string]>([
    [{ ...CONFIG, host: '10.2.2.3' }, 'config.host', 'target_refused'],
    [{ host: CONFIG.host, from: CONFIG.from }, 'config.to', 'required'],
    [{ ...CONFIG, to: ADA }, 'config.to', 'is_array'],
    [{ ...CONFIG, to: [] }, 'config.to', 'size'],
    [{ ...CONFIG, to: people(21) }, 'config.to', 'size'],
    [{ ...CONFIG, to: [ADA, ADA] }, 'config.to', 'unique'],
    [{ ...CONFIG, to: [ADA, null] }, 'config.to.1', 'is_string'],
    [{ ...CONFIG, to: [ADA, 'Ada <ada@example.com>'] }, 'config.to.1', 'is_email'],
    [{ ...CONFIG, to: ['a@example.com\r\nBcc: x@example.net'] }, 'config.to.0', 'is_email'],
    [{ ...CONFIG, to: ['a%x@example.com'] }, 'config.to.0', 'is_email'],
    [{ ...CONFIG, to: ['|sh@example.com'] }, 'config.to.0', 'is_email'],
  ])('rejects %j', (config, field, code) => {
    expect(problemsOf(email, config)).toEqual([[field, code]]);
  });
});
