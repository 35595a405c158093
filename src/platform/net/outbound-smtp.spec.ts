import type { LookupAddress } from 'node:dns';
import { RecordedSpans } from '../../../test/support/traces/recorded-spans.js';
import { SmtpServer, type Step } from '../../../test/support/vendors/smtp-server.js';
import type { Settings } from '../config/settings.js';
import type { Departure } from './outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { OutboundSmtp, type MailServer } from './outbound-smtp.js';
import { type Resolver, Targets } from './targets.js';

const MAIL = {
  from: 'soc@example.com',
  to: ['ada@example.com'],
  content: Buffer.from('Subject: x\r\n\r\ny\r\n'),
};

describe('OutboundSmtp', () => {
  let server: SmtpServer;

  const smtp = (resolve: () => Promise<LookupAddress[]> = async () => []): OutboundSmtp => {
    const resolver: Resolver = { resolve };
    const settings = { allowedPrivateTargets: ['127.0.0.0/8'] } as unknown as Settings;
    return new OutboundSmtp(new Targets(resolver, settings));
  };
  const at = (more: Partial<MailServer> = {}): MailServer => ({
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    requireTls: false,
    ...more,
  });
  const departure = (more: Partial<Departure> = {}): Departure => ({
    signal: new AbortController().signal,
    leave: async () => undefined,
    ...more,
  });

  beforeAll(async () => {
    server = await SmtpServer.start();
  });

  beforeEach(() => server.forget());

  afterAll(() => server.stop());

  it('returns the reply of the server', async () => {
    expect(await smtp().deliver(at(), MAIL, departure())).toEqual({
      code: 250,
      text: '250 2.0.0 queued as 4711',
    });
    expect(server.mails).toMatchObject([{ to: MAIL.to, content: String(MAIL.content) }]);
  });

  it('records the server and its reply in the trace, but nothing of the mail', async () => {
    const spans = RecordedSpans.begin();
    await smtp().deliver(at(), MAIL, departure());
    spans.end();
    expect(spans.all).toEqual([
      {
        name: 'SMTP 127.0.0.1',
        kind: 'client',
        attributes: { 'server.address': '127.0.0.1', 'server.port': server.port },
        noted: { 'smtp.response.status_code': 250 },
        failure: undefined,
      },
    ]);
  });

  it.each<Step>(['GREETING', 'EHLO'])(
    'ends in time if the server is silent at %s',
    async (step) => {
      server.tricks.set(step, 'hang');
      await expect(smtp().greet(at(), 300)).rejects.toThrow('did not reply in time');
    },
  );

  it('ends in time if the name resolves slowly', async () => {
    const never = smtp(() => new Promise(() => undefined));
    await expect(never.greet(at({ host: 'mail.example.com' }), 100)).rejects.toThrow(
      UnreachableError,
    );
  });

  it('sends nothing if it was aborted before it began', async () => {
    const given = departure({ signal: AbortSignal.abort() });
    await expect(smtp().deliver(at(), MAIL, given)).rejects.toThrow(UnreachableError);
    expect(server.commands).toEqual([]);
  });

  it.each<[Step, typeof UnreachableError | typeof OutcomeUnknownError]>([
    ['RCPT', UnreachableError],
    ['DATA', UnreachableError],
    ['.', OutcomeUnknownError],
  ])(
    'reports whether mail may have been transferred if it is aborted at %s',
    async (step, error) => {
      server.tricks.set(step, 'hang');
      const controller = new AbortController();
      void server.untilTricked().then(() => controller.abort());
      const given = departure({ signal: controller.signal });
      await expect(smtp().deliver(at(), MAIL, given)).rejects.toThrow(error);
    },
  );

  it('throws UnreachableError if nobody listens', async () => {
    const other = await SmtpServer.start();
    const { port } = other;
    await other.stop();
    await expect(smtp().greet(at({ port }), 5_000)).rejects.toThrow('ECONNREFUSED');
  });

  it('returns the reply even if the server misbehaves after QUIT', async () => {
    server.tricks.set('QUIT', 'flood');
    expect(await smtp().deliver(at(), MAIL, departure())).toMatchObject({ code: 250 });
    server.tricks.set('QUIT', 'drop');
    expect(await smtp().deliver(at(), MAIL, departure())).toMatchObject({ code: 250 });
  });
});
