import type { Gate } from '../../platform/net/outbound-request.js';
import type { MailReply, OutboundMail, OutboundSmtp } from '../../platform/net/outbound-smtp.js';
import {
  domainOf,
  isMailbox,
  MAIL_SERVER_PROPERTIES,
  mailAccountProblems,
  mailContent,
  mailSecrets,
  serverOf,
} from '../../targets/mail-account.js';
import { type ConfigOf, fields } from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { Attempts } from '../calls/vendor-calls.js';
import {
  type ActionCall,
  defineConnector,
  type Outcome,
  TEST_TIMEOUT_MS,
} from '../connector-type.js';

/** The server is shutting down (RFC 5321, 4.2.2). Other replies concern only this mail. */
const CLOSING = 421;

/** Number of recipients that every server accepts (RFC 5321, 4.5.3.1.8). */
const MAX_RECIPIENTS = 100;

const CONFIG = fields(
  {
    ...MAIL_SERVER_PROPERTIES,
    allowed_recipient_domains: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z0-9.-]+$', maxLength: 253 },
      maxItems: 100,
      uniqueItems: true,
      description:
        'Domains of allowed recipients, without subdomains. Default: the domain of `from`.',
    },
  },
  ['host', 'from'],
);

/** Sends plain text to recipients of allowed domains. */
export const smtp = defineConnector({
  name: 'smtp',
  description: 'A mail server: sends plain text to recipients of the allowed domains.',
  config: CONFIG,
  destinations: [{ host: 'host', port: 'port', secure: 'secure' }],
  problems: mailAccountProblems,
  connect: (config, outbound) => new MailServer(config, outbound.smtp, new Attempts(outbound.wait)),
  actions: {
    notify_user: {
      // Servers deliver a repeated mail twice.
      idempotent: false,
      send: (server, call, gate) => server.notify(call, gate),
    },
  },
  test: async (server) => {
    await server.greet();
    return 'The mail server is ready.';
  },
});

/** A recipient who does not get the message, with the reason. */
interface LeftOut {
  readonly recipient: string;
  readonly why: string;
}

class MailServer {
  private readonly text: AnswerRedactor;
  /** Domains of allowed recipients, in lower case. */
  private readonly domains: ReadonlySet<string>;

  constructor(
    private readonly config: ConfigOf<typeof CONFIG>,
    private readonly smtp: OutboundSmtp,
    private readonly attempts: Attempts,
  ) {
    this.text = new AnswerRedactor(mailSecrets(config));
    const { from, allowed_recipient_domains: allowed = [domainOf(from)] } = config;
    this.domains = new Set(allowed.map((domain) => domain.toLowerCase()));
  }

  async greet(): Promise<void> {
    this.accepted(await this.smtp.greet(serverOf(this.config), TEST_TIMEOUT_MS));
  }

  async notify({ actionId, parameters }: ActionCall, gate: Gate): Promise<Outcome> {
    const named = recipientsIn(String(parameters.recipient));
    const leftOut = named.flatMap((recipient): LeftOut[] => {
      const why = this.refusalOf(recipient);
      return why === undefined ? [] : [{ recipient, why }];
    });
    const allowed = named.filter((one) => leftOut.every(({ recipient }) => recipient !== one));
    if (allowed.length === 0) throw new RefusedError(noneAllowed(leftOut));
    const { from } = this.config;
    const subject = String(parameters.subject);
    const text = String(parameters.message);
    const to = allowed.slice(0, MAX_RECIPIENTS);
    // The header names no recipients, so that they do not see each other.
    const shown = named.length === 1 ? to : [];
    const content = await mailContent({ from, to: shown, subject, text, id: actionId });
    const reply = this.accepted(await this.hand({ from, to, content }, gate));
    return this.sent(reply, { to, named: named.length, leftOut });
  }

  private hand(mail: OutboundMail, gate: Gate): Promise<MailReply> {
    const server = serverOf(this.config);
    return this.attempts.run(gate, (departure) => this.smtp.deliver(server, mail, departure), {
      // Repeated only if no mail was handed over, or after a temporary refusal.
      idempotent: false,
      stateBy: ({ code }) => (code === CLOSING ? 'failing' : 'well'),
      pauseAfter: ({ code }) => (code >= 400 && code < 500 ? 0 : undefined),
    });
  }

  private refusalOf(recipient: string): string | undefined {
    if (!isMailbox(recipient))
      return 'The recipient must be an email address in ASCII, or several separated by commas.';
    return this.domains.has(domainOf(recipient))
      ? undefined
      : `The domain ${domainOf(recipient)} is not in allowed_recipient_domains.`;
  }

  /** Each recipient gets the message at most once, so it is not sent again to rejected recipients. */
  private sent(
    { text, rejected = [] }: MailReply,
    {
      to,
      named,
      leftOut,
    }: { readonly to: string[]; readonly named: number; readonly leftOut: LeftOut[] },
  ): Outcome {
    const reply = this.text.line(text);
    if (named === 1) {
      return { kind: 'done', message: 'The mail server took the message.', data: { reply } };
    }
    const refused = rejected.map(({ recipient, text: why }): LeftOut => {
      return { recipient, why: this.text.line(why) };
    });
    const notSent = [...leftOut, ...refused];
    const sentTo = to.filter((one) => refused.every(({ recipient }) => recipient !== one));
    const beyond = named - sentTo.length - notSent.length;
    const parts = [
      `The mail server took the message for ${sentTo.length} of ${named} recipients.`,
      ...(beyond > 0
        ? [`One action reaches at most ${MAX_RECIPIENTS}: ${beyond} more were not addressed.`]
        : []),
      ...(notSent.length > 0
        ? [`Not sent to: ${notSent.map(({ recipient }) => recipient).join(', ')}.`]
        : []),
    ];
    return {
      kind: 'done',
      message: parts.join(' '),
      data: { reply, sent_to: sentTo, ...(notSent.length > 0 && { not_sent_to: notSent }) },
    };
  }

  /** Throws RefusedError if the server refused. */
  private accepted(reply: MailReply): MailReply {
    if (reply.code < 400) return reply;
    throw new RefusedError(`The mail server refused: ${this.text.line(reply.text)}`);
  }
}

/** Addresses in a list with commas or semicolons, without duplicates. */
function recipientsIn(list: string): string[] {
  const texts = list.split(/[,;]/).map((text) => text.trim());
  const byAddress = new Map<string, string>();
  for (const text of texts.filter((one) => one !== '')) {
    if (!byAddress.has(text.toLowerCase())) byAddress.set(text.toLowerCase(), text);
  }
  return byAddress.size === 0 ? [list] : [...byAddress.values()];
}

function noneAllowed(leftOut: readonly LeftOut[]): string {
  const reasons = [...new Set(leftOut.map(({ why }) => why))].slice(0, 3);
  return reasons.join(' ');
}
