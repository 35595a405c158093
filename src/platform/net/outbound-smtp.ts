import { connect, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { literalIn } from '../addresses/target-rules.js';
import { messageOf, OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { Targets } from './targets.js';
import { Injectable } from '@nestjs/common';
import type { Departure } from './outbound-request.js';
import { traced } from '../tracing/tracing.js';

const TIMEOUT_MS = 15_000;
const READY: MailReply = { code: 220, text: '' };

/** Throws UnreachableError if no mail was transferred, and OutcomeUnknownError if a mail may have been. */
@Injectable()
export class OutboundSmtp {
  constructor(private readonly targets: Targets) {}

  /** Transfers one mail. Calls the permit check when the server is ready, before it sends a sender or recipient. */
  async deliver(server: MailServer, mail: OutboundMail, departure: Departure): Promise<MailReply> {
    const session = new SmtpSession(server, TIMEOUT_MS, departure.signal);
    const attributes = { 'server.address': server.host, 'server.port': server.port };
    return await traced(
      () => ({ name: `SMTP ${server.host}`, kind: 'client', attributes }),
      async (span) => {
        const reply = await session.run(this.targets.lookupFor(server.host), async () => {
          await departure.leave();
          return await session.send(mail);
        });
        span?.note({ 'smtp.response.status_code': reply.code });
        return reply;
      },
    );
  }

  async greet(server: MailServer, timeoutMs: number): Promise<MailReply> {
    const session = new SmtpSession(server, timeoutMs);
    return await session.run(this.targets.lookupFor(server.host), async () => READY);
  }
}

export interface MailServer {
  /** Host in the form of URL#hostname. */
  readonly host: string;
  readonly port: number;
  /** True for TLS from the first byte, false for STARTTLS. */
  readonly secure: boolean;
  /** True if TLS is required. If false, a server without STARTTLS is accepted. */
  readonly requireTls: boolean;
  readonly login?: { readonly user: string; readonly pass: string };
}

interface OutboundMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: Buffer;
}

/** Last reply of the server: 2xx accepted, 4xx temporary rejection, 5xx permanent rejection. */
export interface MailReply {
  readonly code: number;
  readonly text: string;
  /** Rejected recipients if the server accepted other recipients; `undefined` if it rejected no recipient. */
  readonly rejected?: readonly RejectedRecipient[];
  /** True if the server rejected the message itself, not the login, the sender or recipients. */
  readonly isOfMessage?: boolean;
}

interface RejectedRecipient {
  readonly recipient: string;
  readonly code: number;
  readonly text: string;
}

const LONGEST_REPLY = 16_384;

class EarlyReply extends Error {
  constructor(readonly reply: MailReply) {
    super(reply.text);
  }
}

class SmtpSession {
  private readonly failure = Promise.withResolvers<never>();
  private socket?: Socket;
  private smtp?: SMTPConnection;
  /** True if bytes of the message may have been sent. Before, the server discards the mail if the connection ends. */
  private sent = false;

  constructor(
    private readonly server: MailServer,
    private readonly timeoutMs: number,
    private readonly signal?: AbortSignal,
  ) {
    // The promise may reject between two steps, when no step awaits it. This handler prevents an unhandled rejection.
    this.failure.promise.catch(() => undefined);
  }

  async run(lookup: LookupFunction, use: () => Promise<MailReply>): Promise<MailReply> {
    const { timeoutMs, signal } = this;
    const late = (): void => this.fail('timeout', 'The mail server did not reply in time.');
    const abort = (): void => this.fail('timeout', 'The mail was aborted.');
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      await this.open(lookup);
      const reply = await use();
      this.smtp?.quit();
      return reply;
    } catch (error) {
      this.socket?.destroy();
      if (error instanceof EarlyReply) return error.reply;
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async send({ from, to, content }: OutboundMail): Promise<MailReply> {
    const message = Readable.from(this.leaving(content));
    const { response, rejectedErrors } = await this.step<SMTPConnection.SentMessageInfo>((done) =>
      this.smtp!.send({ from, to: [...to] }, message, done),
    );
    const code = Number.parseInt(response, 10);
    return { code, text: response, rejected: rejectedErrors?.map(rejectedOf) };
  }

  private *leaving(content: Buffer): Generator<Buffer> {
    this.sent = true;
    yield content;
  }

  private async open(lookup: LookupFunction): Promise<void> {
    // Imported only when needed, because few sites send mail.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const { host, port, secure, requireTls, login } = this.server;
    const name = literalIn(host) ?? host;
    const socket = connect({ host: name, port, lookup });
    this.socket = socket;
    socket.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    await this.step((done) => socket.once('connect', () => done()));
    // Our own timeout must end first, because it reports the cause.
    const later = this.timeoutMs + 1_000;
    this.smtp = new Connection({
      host: name,
      connection: socket,
      secure,
      requireTLS: requireTls,
      // Certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED.
      tls: { rejectUnauthorized: true },
      connectionTimeout: later,
      greetingTimeout: later,
      socketTimeout: later,
      maxResponseSize: LONGEST_REPLY,
    });
    // This listener is never removed: an error event without a listener would end the process.
    this.smtp.on('error', (cause: SMTPConnection.SMTPError) =>
      this.failure.reject(this.meaningOf(cause)),
    );
    await this.step((done) => this.smtp!.connect(done));
    if (login) await this.step((done) => this.smtp!.login({ credentials: login }, done));
  }

  private async step<T>(
    begin: (done: (error?: Error | null, result?: T) => void) => unknown,
  ): Promise<T> {
    const outcome = new Promise<T>((resolve, reject) => {
      begin((error, result) => (error ? reject(this.meaningOf(error)) : resolve(result as T)));
    });
    return await Promise.race([outcome, this.failure.promise]);
  }

  private meaningOf(error: SMTPConnection.SMTPError): Error {
    const { responseCode, response = '', originalCode, rejectedErrors } = error;
    if (error.code === 'ETLS' && responseCode) {
      const message = 'The mail server does not support STARTTLS, which is required.';
      return new UnreachableError(message, { temporary: false, cause: error });
    }
    if (responseCode) {
      const rejected = rejectedErrors?.map(rejectedOf);
      const isOfMessage = this.sent;
      return new EarlyReply({ code: responseCode, text: response, rejected, isOfMessage });
    }
    return this.ended('broken', messageOf({ code: originalCode }), error);
  }

  private fail(reason: 'timeout' | 'broken', message: string, cause?: unknown): void {
    this.failure.reject(this.ended(reason, message, cause));
    this.socket?.destroy();
  }

  private ended(reason: 'timeout' | 'broken', message: string, cause?: unknown): Error {
    if (this.sent) return new OutcomeUnknownError(message, reason, { cause });
    return cause instanceof UnreachableError ? cause : new UnreachableError(message, { cause });
  }
}

function rejectedOf(error: SMTPConnection.SMTPError): RejectedRecipient {
  const { recipient = '', responseCode = 0, response = '' } = error;
  return { recipient, code: responseCode, text: response };
}
