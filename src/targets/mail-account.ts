import { hasFormat } from '../action-catalogue/parameters.js';
import { isPrivateHost } from '../platform/addresses/target-rules.js';
import type { FieldError } from '../platform/errors/app-error.js';
import type { MailServer } from '../platform/net/outbound-smtp.js';
import type { Targets } from '../platform/net/targets.js';
import { problemAt, refusedTarget } from './target-check.js';
import { type ConfigOf, optional, secret, text } from './target-config.js';
import { storable } from '../platform/text.js';

const SUBMISSION_PORT = 587;

export const MAIL_SERVER_PROPERTIES = {
  host: text(
    'Name or address of the mail server. An address of a private network must be in ALLOWED_PRIVATE_TARGETS.',
    { minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9._:-]+$' },
  ),
  port: {
    type: 'integer',
    minimum: 1,
    maximum: 65_535,
    default: SUBMISSION_PORT,
    description: 'Port of the mail server.',
  },
  secure: {
    type: 'boolean',
    default: false,
    description:
      'TLS from the start, as on port 465. Otherwise STARTTLS is used, and only servers in a private network may lack it.',
  },
  username: optional(
    text(
      'User name at the mail server, together with `password`. Without both, there is no login.',
      { minLength: 1, maxLength: 320 },
    ),
  ),
  password: optional(secret('Password at the mail server.')),
  from: text('Sender address, such as soc@example.com.', { minLength: 3, maxLength: 320 }),
} as const;

type MailAccount = ConfigOf<{ readonly properties: typeof MAIL_SERVER_PROPERTIES }>;

export function serverOf({ port, secure, ...config }: MailAccount): MailServer {
  const { username: user, password: pass } = config;
  const host = hostOf(config.host)!;
  const login = user !== undefined && pass !== undefined ? { user, pass } : undefined;
  return { host, port, secure, requireTls: !isPrivateHost(host), login };
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Excludes characters with a meaning for relays or shells, such as `%` in `mallory%evil.example@example.com`. */
const MAILBOX = /^[A-Za-z0-9_][A-Za-z0-9_.+'=~&-]*@[A-Za-z0-9.-]+$/;

export function isMailbox(text: string): boolean {
  return MAILBOX.test(text) && hasFormat('email', text);
}

export function mailAccountProblems(config: MailAccount, targets: Targets): FieldError[] {
  const host = hostOf(config.host);
  const hasLogin = config.username !== undefined;
  return [
    ...(host ? [] : [problemAt('config.host', 'matches', 'must be a host name or an IP address')]),
    ...(host && targets.refusesAddress(host) ? [refusedTarget('config.host')] : []),
    ...(isMailbox(config.from) ? [] : [notOneAddress('config.from')]),
    ...(hasLogin === (config.password !== undefined)
      ? []
      : [problemAt('config.password', 'required', 'and username must be given together')]),
  ];
}

export const notOneAddress = (field: string): FieldError =>
  problemAt(field, 'is_email', 'must be one email address');

function hostOf(text: string): string | undefined {
  const address = `http://${text.includes(':') ? `[${text}]` : text}`;
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}

export interface Note {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Same id for every attempt, so that mailboxes recognize copies by the Message-ID. */
  readonly id: string;
  readonly threadId?: string;
}

const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

const UNDISCLOSED = 'Undisclosed recipients:;';

/** Builds the message. Text of attackers cannot become a header or an attachment. */
export async function mailContent(note: Note): Promise<Buffer> {
  const { from, to, subject, text, id, threadId } = note;
  const domain = domainOf(from);
  // Loads the library on demand, because few installations send mail.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    from: { name: '', address: from },
    to: to.length === 0 ? UNDISCLOSED : to.map((address) => ({ name: '', address })),
    // `=?` starts an encoded word (RFC 2047), which mail clients would decode.
    subject: storable(subject).replace(BREAKS, ' ').replaceAll('=?', '= ?'),
    text: storable(text),
    messageId: `<${id}@${domain}>`,
    references: threadId === undefined ? undefined : `<${threadId}@${domain}>`,
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
