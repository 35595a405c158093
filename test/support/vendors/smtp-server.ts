import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { flood } from '../loopback-server.js';
import type { Certificate } from './certificate.js';

/** Behaviour of the server at a step: another reply, a closed connection, no reply, or an endless reply. */
export type Trick = { readonly say: string } | 'drop' | 'hang' | 'flood';
/** In a step, `.` stands for the end of the message. */
export type Step =
  'GREETING' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | '.' | 'QUIT';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Content after the dot-stuffing is removed. */
  readonly content: string;
  readonly encrypted: boolean;
  readonly user?: string;
}

export interface SmtpServerOptions {
  readonly certificate?: Certificate;
  /** TLS from the first byte, instead of STARTTLS. */
  readonly implicit?: boolean;
  /** Required user name and password. */
  readonly login?: { readonly user: string; readonly pass: string };
  /** Maximum number of recipients of a mail. Default: 1. */
  readonly mostRecipients?: number;
}

const ADDRESS = '<([^<>\\s@]+@[^<>\\s@]+)>';

/**
 * A mail server that listens on a port, by RFC 5321 (commands, their order, dot-stuffing), RFC 3207 (STARTTLS) and RFC 4954
 * with RFC 4616 (AUTH PLAIN). Commands of another form, out of order, with bare line feeds or too many recipients are
 * refused and kept in `violations`.
 * https://www.rfc-editor.org/rfc/rfc5321, https://www.rfc-editor.org/rfc/rfc3207, https://www.rfc-editor.org/rfc/rfc4954
 */
export class SmtpServer {
  readonly mails: ReceivedMail[] = [];
  readonly commands: string[] = [];
  readonly violations: string[] = [];
  /** Tricks for every connection until they are removed. */
  readonly tricks = new Map<Step, Trick>();
  /** Tricks for the next time that a step is reached. They take precedence over `tricks`. */
  readonly nextTricks = new Map<Step, Trick[]>();
  /** Replies to rejected recipients, by address. */
  readonly rejections = new Map<string, string>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  /** Steps at which a trick was used so far. */
  readonly tricked: Step[] = [];
  connections = 0;

  private constructor(readonly options: SmtpServerOptions) {
    this.server = createServer((socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
      new Conversation(this, options.implicit ? encrypted(socket, options) : socket).begin();
    });
  }

  static async start(options: SmtpServerOptions = {}): Promise<SmtpServer> {
    const server = new SmtpServer(options);
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  forget(): void {
    this.mails.length = 0;
    this.commands.length = 0;
    this.violations.length = 0;
    this.tricks.clear();
    this.nextTricks.clear();
    this.rejections.clear();
    this.tricked.length = 0;
    this.connections = 0;
  }

  trickAt(step: Step): Trick | undefined {
    const trick = this.nextTricks.get(step)?.shift() ?? this.tricks.get(step);
    if (trick) this.tricked.push(step);
    return trick;
  }

  /** Waits for the next trick. */
  async untilTricked(): Promise<void> {
    while (this.tricked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function encrypted(socket: Socket, { certificate }: SmtpServerOptions): TLSSocket {
  const secure = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext(certificate),
  });
  secure.on('error', () => undefined);
  return secure;
}

class Conversation {
  private buffer = '';
  private user: string | undefined;
  private from: string | undefined;
  private to: readonly string[] = [];
  /** Number of recipients, including rejected ones. */
  private recipients = 0;
  private inMessage = false;

  constructor(
    private readonly server: SmtpServer,
    private socket: Socket,
  ) {}

  begin(): void {
    this.listen();
    this.reply('GREETING', '220 mail.example ESMTP');
  }

  private listen(): void {
    this.socket.on('data', (chunk: Buffer) => this.take(chunk.toString('latin1')));
  }

  private take(text: string): void {
    this.buffer += text;
    for (;;) {
      const end = this.buffer.indexOf(this.inMessage ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = this.buffer.slice(0, end);
      this.buffer = this.buffer.slice(end + (this.inMessage ? 5 : 2));
      if (this.inMessage) this.takeMessage(part);
      else this.takeCommand(part);
    }
  }

  private takeCommand(line: string): void {
    this.server.commands.push(line);
    const verb = line.split(' ')[0]!;
    const { login, mostRecipients } = this.server.options;
    if (verb === 'EHLO' && /^EHLO [A-Za-z0-9.[\]:-]+$/.test(line)) return this.greet();
    if (line === 'STARTTLS' && this.server.options.certificate) return this.startTls();
    if (verb === 'AUTH' && login) return this.logIn(line);
    if (line === 'QUIT') return this.reply('QUIT', '221 bye', () => this.socket.end());
    const from = new RegExp(`^MAIL FROM:${ADDRESS}( SIZE=\\d+)?$`).exec(line)?.[1];
    if (from && this.from === undefined && (!login || this.user !== undefined)) {
      return this.reply('MAIL', '250 ok', () => (this.from = from));
    }
    const to = new RegExp(`^RCPT TO:${ADDRESS}$`).exec(line)?.[1];
    if (to && this.from !== undefined && this.recipients < (mostRecipients ?? 1)) {
      this.recipients += 1;
      const rejection = this.server.rejections.get(to);
      if (rejection) return this.reply('RCPT', rejection);
      return this.reply('RCPT', '250 ok', () => (this.to = [...this.to, to]));
    }
    if (line === 'DATA' && this.to.length > 0) {
      return this.reply('DATA', '354 go on', () => (this.inMessage = true));
    }
    this.server.violations.push(line);
    this.socket.write('503 5.5.1 not now, or not known\r\n');
  }

  private greet(): void {
    const { certificate, login } = this.server.options;
    const isPlain = !(this.socket instanceof TLSSocket);
    const offers = [
      'mail.example',
      ...(certificate && isPlain ? ['STARTTLS'] : []),
      ...(login ? ['AUTH PLAIN'] : []),
    ];
    const lines = offers.map((text, at) => `250${at < offers.length - 1 ? '-' : ' '}${text}`);
    this.reply('EHLO', lines.join('\r\n'));
  }

  private startTls(): void {
    this.reply('STARTTLS', '220 go on', () => {
      this.socket.removeAllListeners('data');
      this.socket = encrypted(this.socket, this.server.options);
      this.listen();
    });
  }

  private logIn(line: string): void {
    const { user, pass } = this.server.options.login!;
    const given = Buffer.from(line.replace(/^AUTH PLAIN /, ''), 'base64').toString('utf8');
    if (given !== `\0${user}\0${pass}`) {
      return this.reply('AUTH', '535 5.7.8 Authentication credentials invalid');
    }
    this.reply('AUTH', '235 2.7.0 ok', () => (this.user = user));
  }

  private takeMessage(part: string): void {
    const content = Buffer.from(`${part}\r\n`.replace(/^\./gm, ''), 'latin1').toString('utf8');
    if (/(?<!\r)\n|\r(?!\n)/.test(content)) this.server.violations.push('a bare line feed');
    const { from, to, user } = this;
    this.inMessage = false;
    this.reply('.', '250 2.0.0 queued as 4711', () => {
      const encrypted = this.socket instanceof TLSSocket;
      this.server.mails.push({ from: from!, to, content, encrypted, user });
      this.from = undefined;
      this.to = [];
      this.recipients = 0;
    });
  }

  private reply(step: Step, text: string, effect?: () => unknown): void {
    const trick = this.server.trickAt(step);
    if (trick === 'hang') return;
    if (trick === 'drop') {
      // A server that fails at this step may already have stored the message.
      if (step === '.') effect?.();
      this.socket.destroy();
    } else if (trick === 'flood') flood(this.socket, `250-${'x'.repeat(10_000)}\r\n`);
    else if (trick) this.socket.write(`${trick.say}\r\n`);
    else {
      this.socket.write(`${text}\r\n`);
      effect?.();
    }
  }
}
