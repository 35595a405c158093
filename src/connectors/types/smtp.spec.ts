import { certificateForLocalhost, trust } from '../../../test/support/vendors/certificate.js';
import { SmtpServer, type Step, type Trick } from '../../../test/support/vendors/smtp-server.js';
import {
  callOf,
  connectTo,
  CountingGate,
  LocalResolver,
  targetsIn,
} from '../../../test/support/vendors/vendor-site.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import {
  OutcomeUnknownError,
  TargetRefusedError,
  UnreachableError,
} from '../../platform/net/net.errors.js';
import { OutboundSmtp } from '../../platform/net/outbound-smtp.js';
import type { Connector } from '../connector-type.js';
import { smtp } from './smtp.js';

const LOGIN = { user: 'soc', pass: 'mail-password-9' };
/** Returns the subject as a mail client shows it (decoded, RFC 2047). */
function subjectIn(head: string): string {
  const [, value = ''] = /^Subject: (.*(?:\r\n .*)*)/m.exec(head) ?? [];
  const unfolded = value.replace(/\?=\r\n =\?UTF-8\?Q\?/g, '').replace(/\r\n/g, '');
  return unfolded.replace(/=\?UTF-8\?Q\?(.*?)\?=/gi, (_, word: string) =>
    decodeURIComponent(word.replaceAll('_', ' ').replaceAll('=', '%')),
  );
}

describe('SmtpConnector', () => {
  const certificate = certificateForLocalhost();
  let server: SmtpServer;
  let resolver: LocalResolver;

  const connector = (more: object = {}, allowed = ['127.0.0.0/8']): Connector => {
    const config = {
      host: '127.0.0.1',
      port: server.port,
      from: 'soc@example.com',
      allowed_recipient_domains: ['example.com', 'Example.net'],
      ...more,
    };
    return connectTo(smtp, config, { smtp: new OutboundSmtp(targetsIn(allowed, resolver)) });
  };
  const send = (
    parameters: object = {},
    { to = connector(), gate = new CountingGate() }: { to?: Connector; gate?: Gate } = {},
  ) =>
    to.execute(
      callOf(
        'notify_user',
        { recipient: 'ada@example.com', subject: 'Hello', message: 'Hi.', ...parameters },
        { actionId: 'act-7' },
      ),
      gate,
    );

  beforeAll(async () => {
    server = await SmtpServer.start({ mostRecipients: 100 });
  });

  beforeEach(() => {
    resolver = new LocalResolver();
    server.forget();
  });

  afterAll(() => server.stop());

  it('sends one plain message whose Message-ID is the id of the action', async () => {
    expect(await send()).toEqual({
      kind: 'done',
      message: 'The mail server took the message for 1 of 1 recipients.',
      data: { reply: '250 2.0.0 queued as 4711', sent_to: ['ada@example.com'] },
    });
    expect(server.violations).toEqual([]);
    const [mail] = server.mails;
    expect(server.mails).toHaveLength(1);
    expect(mail).toMatchObject({ from: 'soc@example.com', to: ['ada@example.com'] });
    const [head, body] = mail!.content.split('\r\n\r\n');
    expect(
      head!
        .replace(/^Date: .*$/m, 'Date: …')
        .split('\r\n')
        .sort(),
    ).toEqual([
      'Auto-Submitted: auto-generated',
      'Content-Transfer-Encoding: 7bit',
      'Content-Type: text/plain; charset=utf-8',
      'Date: …',
      'From: soc@example.com',
      'MIME-Version: 1.0',
      'Message-ID: <act-7@example.com>',
      'Subject: Hello',
      'To: ada@example.com',
    ]);
    expect(body).toBe('Hi.\r\n');
  });

  it.each([
    ['a header', 'Hello\r\nBcc: e@x.example\r\n\r\nbody', 'Hello Bcc: e@x.example body'],
    ['a line of Unicode', 'Hello\u2028Bcc: e\u2029x\u0085y', 'Hello Bcc: e x y'],
    ['a bare line feed', 'Hello\nBcc: e@x.example', 'Hello Bcc: e@x.example'],
    ['an encoded word', '=?utf-8?Q?Hi=0D=0ABcc:_e?=', '= ?utf-8?Q?Hi=0D=0ABcc:_e?='],
    ['NUL and half a pair', 'Hi\0 \ud800 Bcc: e', 'Hi\ufffd \ufffd Bcc: e'],
  ])('puts %s into a subject as plain text', async (_, subject, shown) => {
    await send({ subject });
    const [head] = server.mails[0]!.content.split('\r\n\r\n');
    const names = head!.split(/\r\n(?! )/).map((line) => line.split(':')[0]);
    expect(names.sort()).toEqual([
      'Auto-Submitted',
      'Content-Transfer-Encoding',
      'Content-Type',
      'Date',
      'From',
      'MIME-Version',
      'Message-ID',
      'Subject',
      'To',
    ]);
    expect(subjectIn(head!)).toBe(shown);
    expect(server.commands.filter((line) => line.startsWith('RCPT'))).toEqual([
      'RCPT TO:<ada@example.com>',
    ]);
    expect(server.violations).toEqual([]);
  });

  it('sends a message as text even if it looks like SMTP commands', async () => {
    const message = 'one\n.\nRCPT TO:<eve@evil.example>\n..\r\n.\r\nMAIL FROM:<x@evil.example>\r.';
    await send({ message });
    expect(server.mails).toHaveLength(1);
    const body = server.mails[0]!.content.split('\r\n\r\n').slice(1).join('\r\n\r\n');
    expect(body).toContain('one\r\n.\r\nRCPT TO:<eve@evil.example>\r\n..\r\n.\r\n');
    expect(server.violations).toEqual([]);
    expect(server.commands.filter((line) => line.includes('evil'))).toEqual([]);
  });

  it('replaces characters that mail cannot carry', async () => {
    await send({ message: 'a\0b\ud800c' });
    const [, body] = server.mails[0]!.content.split('\r\n\r\n');
    expect(body).not.toContain('\0');
    expect(body).toContain('=EF=BF=BD');
  });

  it('rejects a reply of more than 16 KB', async () => {
    server.tricks.set('RCPT', { say: `${`550-${'x'.repeat(1_000)}\r\n`.repeat(17)}550 end` });
    await expect(send()).rejects.toThrow(UnreachableError);
  });

  it.each([
    ['of another domain', 'eve@evil.example'],
    ['of a domain below', 'eve@sub.example.com'],
    ['of a domain that only ends alike', 'eve@notexample.com'],
    ['with a name', 'Eve <ada@example.com>'],
    ['with a header', 'ada@example.com\r\nBcc: eve@evil.example'],
    ['with a route', 'eve%evil.example@example.com'],
    ['with an old route', 'evil.example!eve@example.com'],
    ['with a quoted part', '"eve@evil.example"@example.com'],
    ['for a program', '|sh@example.com'],
    ['for a file', '/etc/passwd@example.com'],
    ['like an option', '-oQ@example.com'],
    ['that is not ASCII', 'ädä@example.com'],
    ['that is not an address', 'ada'],
  ])('rejects a recipient %s before it connects', async (_, recipient) => {
    expect(await send({ recipient })).toMatchObject({ kind: 'refused' });
    expect(server.connections).toBe(0);
  });

  it('sends one mail to several recipients, to each of them once, and names no recipient in the mail', async () => {
    const recipient = 'ada@example.com, bob@example.com; eve@example.net,ADA@example.com';
    expect(await send({ recipient })).toEqual({
      kind: 'done',
      message: 'The mail server took the message for 3 of 3 recipients.',
      data: {
        reply: '250 2.0.0 queued as 4711',
        sent_to: ['ada@example.com', 'bob@example.com', 'eve@example.net'],
      },
    });
    expect(server.mails.map(({ to }) => to)).toEqual([
      ['ada@example.com', 'bob@example.com', 'eve@example.net'],
    ]);
    expect(server.mails[0]!.content).toContain('\r\nTo: Undisclosed recipients:;\r\n');
    expect(server.mails[0]!.content).not.toMatch(/bob|eve/);
  });

  it('names the recipients that did not get the message, with the reason', async () => {
    server.rejections.set('bob@example.com', '550 5.1.1 no such user');
    const recipient = 'ada@example.com, eve@evil.example, bob@example.com';
    expect(await send({ recipient })).toMatchObject({
      kind: 'done',
      message:
        'The mail server took the message for 1 of 3 recipients. Not sent to: eve@evil.example, bob@example.com.',
      data: {
        sent_to: ['ada@example.com'],
        not_sent_to: [
          {
            recipient: 'eve@evil.example',
            why: 'The domain evil.example is not in allowed_recipient_domains.',
          },
          { recipient: 'bob@example.com', why: '550 5.1.1 no such user' },
        ],
      },
    });
    expect([server.connections, server.mails.length]).toEqual([1, 1]);
  });

  it('names the recipients that exceed the limit of the server', async () => {
    const people = Array.from({ length: 101 }, (_, n) => `p${n}@example.com`);
    const outcome = await send({ recipient: people.join() });
    expect(server.mails.map(({ to }) => to)).toEqual([people.slice(0, 100)]);
    expect(outcome).toMatchObject({
      message:
        'The mail server took the message for 100 of 101 recipients. Not sent to: p100@example.com.',
    });
  });

  it('rejects several recipients without a connection if no recipient is allowed', async () => {
    expect(await send({ recipient: 'eve@evil.example, |sh@example.com' })).toEqual({
      kind: 'refused',
      message:
        'The domain evil.example is not in allowed_recipient_domains. The recipient must be an email address in ASCII, or several separated by commas.',
    });
    expect(server.connections).toBe(0);
  });

  it('allows only the domain of its own address by default', async () => {
    const own = connector({ allowed_recipient_domains: undefined });
    expect(await send({}, { to: own })).toMatchObject({ kind: 'done' });
    expect(await send({ recipient: 'eve@example.net' }, { to: own })).toMatchObject({
      kind: 'refused',
    });
    expect(await send({ recipient: 'ada@EXAMPLE.net' })).toMatchObject({ kind: 'done' });
  });

  it('allows no recipient if the list of domains is empty', async () => {
    const none = connector({ allowed_recipient_domains: [] });
    expect(await send({}, { to: none })).toMatchObject({ kind: 'refused' });
  });

  it.each<[Step, string]>([
    ['GREETING', '554 5.3.2 no mail here'],
    ['MAIL', '550 5.1.8 sender refused'],
    ['RCPT', '550 5.1.1 no such user'],
    ['DATA', '554 5.6.0 no'],
    ['.', '552 5.3.4 too big'],
  ])(
    'reports a refusal with the message of the server if the server refuses at %s',
    async (step, say) => {
      server.tricks.set(step, { say });
      expect(await send()).toEqual({ kind: 'refused', message: `The mail server refused: ${say}` });
      expect(server.connections).toBe(1);
      expect(server.mails).toEqual([]);
    },
  );

  it.each<Step>(['GREETING', 'MAIL', 'RCPT', '.'])(
    'retries if the server refuses temporarily at %s',
    async (step) => {
      server.nextTricks.set(step, [{ say: '451 4.7.1 later' }]);
      expect(await send()).toMatchObject({ kind: 'done' });
      expect([server.connections, server.mails.length]).toEqual([2, 1]);
    },
  );

  it('gives up after three temporary refusals', async () => {
    server.tricks.set('RCPT', { say: '450 4.2.1 later' });
    expect(await send()).toMatchObject({ kind: 'refused' });
    expect(server.connections).toBe(3);
  });

  it('pauses after five replies that the server is closing, but not after refused recipients', async () => {
    server.tricks.set('RCPT', { say: '550 5.1.1 no such user' });
    const to = connector();
    for (let round = 0; round < 6; round += 1) await send({}, { to });
    expect(server.connections).toBe(6);
    server.tricks.set('GREETING', { say: '421 4.3.2 closing' });
    await send({}, { to });
    await expect(send({}, { to })).rejects.toThrow('All recent calls failed');
    expect(server.connections).toBe(11);
  });

  it.each<[Step, Trick]>([
    ['GREETING', 'drop'],
    ['EHLO', 'drop'],
    ['MAIL', 'drop'],
    ['RCPT', 'drop'],
    ['DATA', 'drop'],
    ['GREETING', 'flood'],
    ['EHLO', 'flood'],
    ['GREETING', { say: 'HTTP/1.1 200 OK' }],
  ])('reports an unreachable server if the server fails at %s by %j', async (step, trick) => {
    server.tricks.set(step, trick);
    await expect(send()).rejects.toThrow(UnreachableError);
    expect(server.mails).toEqual([]);
  });

  it('reports an unknown outcome if the connection ends after the message, and sends no second message', async () => {
    server.tricks.set('.', 'drop');
    await expect(send()).rejects.toThrow(OutcomeUnknownError);
    expect(server.mails).toHaveLength(1);
    expect(server.connections).toBe(1);
  });

  it('ends if the permit check aborts the call, even if the server never answers', async () => {
    server.tricks.set('.', 'hang');
    const controller = new AbortController();
    const { signal } = controller;
    const gate: Gate = { send: (request) => request({ signal, leave: async () => undefined }) };
    void server.untilTricked().then(() => controller.abort());
    await expect(send({}, { gate })).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('sends neither sender nor recipient before the permit check allows it, and sends no mail if the permit check refuses', async () => {
    const shut = new Error('kill switch');
    const gate: Gate = {
      send: (request) =>
        request({
          signal: new AbortController().signal,
          leave: async () => {
            expect(server.commands).toEqual([expect.stringMatching(/^EHLO /)]);
            throw shut;
          },
        }),
    };
    await expect(send({}, { gate })).rejects.toBe(shut);
    expect(server.commands).toHaveLength(1);
  });

  it('rejects an address or a name in a private network that is not allowed', async () => {
    await expect(send({}, { to: connector({}, []) })).rejects.toThrow(TargetRefusedError);
    const named = connector({ host: 'mail.example.com' }, []);
    await expect(send({}, { to: named })).rejects.toThrow(TargetRefusedError);
    expect(server.connections).toBe(0);
  });

  it('connects to the address that was checked, and resolves the name once', async () => {
    await send({}, { to: connector({ host: 'mail.local' }) });
    expect(server.mails).toHaveLength(1);
    expect(resolver.lookups).toEqual(['mail.local']);
  });

  it('sends nothing to a public server without TLS', async () => {
    const publicName = connector({ host: 'mail.example.com' });
    await expect(send({}, { to: publicName })).rejects.toThrow('does not support STARTTLS');
    expect(server.mails).toEqual([]);
  });

  it('sends no mail in a connection test, and explains failures', async () => {
    expect(await connector().test()).toMatchObject({ success: true });
    expect(server.commands.map((line) => line.split(' ')[0])).not.toContain('MAIL');
    server.tricks.set('GREETING', { say: '554 go away' });
    expect(await connector().test()).toMatchObject({
      success: false,
      message: 'The mail server refused: 554 go away',
    });
    expect(await connector({}, []).test()).toMatchObject({ success: false });
  });

  describe('with TLS', () => {
    let secure: SmtpServer;
    const own = (more: object = {}) =>
      connector({
        host: 'localhost',
        port: secure.port,
        username: LOGIN.user,
        password: LOGIN.pass,
        ...more,
      });

    describe.each([{ implicit: false }, { implicit: true }])('%j', ({ implicit }) => {
      beforeAll(async () => {
        secure = await SmtpServer.start({ certificate, implicit, login: LOGIN });
      });

      beforeEach(() => secure.forget());

      afterAll(() => secure.stop());

      it('sends after a login over an encrypted connection', async () => {
        const distrust = trust(certificate);
        try {
          expect(await send({}, { to: own({ secure: implicit }) })).toMatchObject({ kind: 'done' });
        } finally {
          distrust();
        }
        expect(secure.mails).toMatchObject([{ encrypted: true, user: LOGIN.user }]);
        expect(secure.violations).toEqual([]);
      });

      it('sends no password to a server with an untrusted certificate', async () => {
        await expect(send({}, { to: own({ secure: implicit }) })).rejects.toThrow(UnreachableError);
        expect(secure.commands.join()).not.toContain('AUTH');
      });

      it('shows neither the password nor its encoding if the login is refused', async () => {
        const distrust = trust(certificate);
        const pass = 'another-password';
        const encoded = Buffer.from(`\0${LOGIN.user}\0${pass}`).toString('base64');
        secure.tricks.set('AUTH', { say: `535 5.7.8 not ${pass} nor ${encoded}` });
        const failing = own({ secure: implicit, password: pass });
        try {
          const [outcome, tested] = [await send({}, { to: failing }), await failing.test()];
          expect(outcome).toMatchObject({ kind: 'refused' });
          expect(tested).toMatchObject({ success: false });
          const said = JSON.stringify([outcome, tested]);
          expect(said).not.toContain(pass);
          expect(said).not.toContain(encoded);
          expect(said).toContain('535 5.7.8');
        } finally {
          distrust();
        }
      });
    });
  });
});
