import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { literalIn } from '../addresses/target-rules.js';
import { OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { lookUpOf, messageOf } from './send-request.js';
import type { PinnedAddress } from './targets.js';

export interface MailServer {
  /** As URL#hostname writes it. */
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Otherwise it begins with STARTTLS. */
  readonly secure: boolean;
  /** Whether nothing is said without TLS. When it is false, a server that offers no STARTTLS is talked to all the same. */
  readonly requireTls: boolean;
  readonly login?: { readonly user: string; readonly pass: string };
}

export interface OutboundMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The whole message with its headers. */
  readonly content: Buffer;
}

/** What the server said last: 2xx when it took the mail, 4xx when it does not take it now, 5xx when it never will. */
export interface MailReply {
  readonly code: number;
  readonly text: string;
  /** Of several recipients, those that it does not take the mail for; undefined when there are none. */
  readonly rejected?: readonly RejectedRecipient[];
  /** It has refused the message itself, and not the login, the sender or the recipients, which it hears of before. */
  readonly isOfMessage?: boolean;
}

export interface RejectedRecipient {
  readonly recipient: string;
  readonly code: number;
  readonly text: string;
}

interface Limits {
  /** For everything, from resolving the name to the last reply. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const LONGEST_REPLY = 16_384;

/** A reply that ends the session early. */
class EarlyReply extends Error {
  constructor(readonly reply: MailReply) {
    super(reply.text);
  }
}

/** One connection to a mail server. It serves one mail. */
export class SmtpSession {
  private readonly failure = Promise.withResolvers<never>();
  private socket?: Socket;
  private smtp?: SMTPConnection;
  /** Whether bytes of the message may have left. Before that a server forgets everything when the connection ends. */
  private sent = false;

  constructor(
    private readonly server: MailServer,
    private readonly limits: Limits,
  ) {
    // It is awaited only beside a step, and may fail between two of them.
    this.failure.promise.catch(() => undefined);
  }

  /** Opens the session, does what it is for and ends it. */
  async run(
    addresses: Promise<readonly PinnedAddress[]>,
    use: () => Promise<MailReply>,
  ): Promise<MailReply> {
    const { timeoutMs, signal } = this.limits;
    const late = (): void => this.fail('timeout', 'The mail server does not answer in time.');
    const abort = (): void => this.fail('timeout', 'The mail was given up.');
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      await this.open(await this.unlessFailed(addresses));
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
    const { response, rejectedErrors } = await this.step<SentMail>((done) =>
      this.smtp!.send({ from, to: [...to] }, message, done),
    );
    const code = Number.parseInt(response, 10);
    return { code, text: response, rejected: rejectedErrors?.map(rejectedOf) };
  }

  /** Read when the server has said that it takes the message (354), and not earlier. */
  private *leaving(content: Buffer): Generator<Buffer> {
    this.sent = true;
    yield content;
  }

  private async open(addresses: readonly PinnedAddress[]): Promise<void> {
    const { host, port, secure, requireTls, login } = this.server;
    const name = literalIn(host) ?? host;
    const socket = connect({ host: name, port, lookup: lookUpOf(addresses) });
    this.socket = socket;
    socket.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    await this.unlessFailed(new Promise<void>((resolve) => socket.once('connect', resolve)));
    // Our own limit ends it first, and says that it was the time.
    const later = this.limits.timeoutMs + 1_000;
    this.smtp = new SMTPConnection({
      host: name,
      connection: socket,
      secure,
      requireTLS: requireTls,
      // Certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      tls: { rejectUnauthorized: true },
      connectionTimeout: later,
      greetingTimeout: later,
      socketTimeout: later,
      maxResponseSize: LONGEST_REPLY,
    });
    // Stays until the end: an error event without a listener would end the process.
    this.smtp.on('error', (cause: SmtpError) => this.failure.reject(this.meaningOf(cause)));
    await this.step((done) => this.smtp!.connect(done));
    if (login) await this.step((done) => this.smtp!.login({ credentials: login }, done));
  }

  private async step<T>(
    begin: (done: (error?: Error | null, result?: T) => void) => void,
  ): Promise<T> {
    const outcome = new Promise<T>((resolve, reject) => {
      begin((error, result) => (error ? reject(this.meaningOf(error)) : resolve(result as T)));
    });
    return await this.unlessFailed(outcome);
  }

  private async unlessFailed<T>(step: Promise<T>): Promise<T> {
    return await Promise.race([step, this.failure.promise]);
  }

  private meaningOf(error: SmtpError): Error {
    const { responseCode, response = '', originalCode, rejectedErrors } = error;
    if (error.code === 'ETLS' && responseCode) {
      const message = 'The mail server starts no TLS, and nothing is sent without it.';
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
    return this.sent
      ? new OutcomeUnknownError(message, reason, { cause })
      : new UnreachableError(message, { cause });
  }
}

/** What nodemailer adds to an error. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly response?: string;
  readonly recipient?: string;
  /** When it is about recipients: an error for each of them. */
  readonly rejectedErrors?: readonly SmtpError[];
}

/** What nodemailer says of a mail that was taken, for some recipients at least. */
interface SentMail {
  readonly response: string;
  readonly rejectedErrors?: readonly SmtpError[];
}

function rejectedOf({
  recipient = '',
  responseCode = 0,
  response = '',
}: SmtpError): RejectedRecipient {
  return { recipient, code: responseCode, text: response };
}
