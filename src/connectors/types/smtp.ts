import type { Gate } from '../../platform/net/outbound-request.js';
import type { MailReply, OutboundSmtp } from '../../platform/net/outbound-smtp.js';
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
import { Attempts, TEST_TIMEOUT_MS } from '../calls/vendor-calls.js';
import { type ActionCall, defineConnector, type Outcome } from '../connector-type.js';

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
  problems: mailAccountProblems,
  connect: (config, outbound) => {
    const attempts = new Attempts(outbound.wait);
    return (gate) => new MailServer(config, outbound.smtp, attempts, gate);
  },
  actions: {
    // Not idempotent: servers deliver a repeated mail twice.
    notify_user: { send: (server, call) => server.notify(call) },
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

  constructor(
    private readonly config: ConfigOf<typeof CONFIG>,
    private readonly smtp: OutboundSmtp,
    private readonly attempts: Attempts,
    private readonly gate: Gate | undefined,
  ) {
    this.text = new AnswerRedactor(mailSecrets(config));
  }

  async greet(): Promise<void> {
    this.accepted(await this.smtp.greet(serverOf(this.config), TEST_TIMEOUT_MS));
  }

  async notify({ actionId: id, parameters }: ActionCall): Promise<Outcome> {
    const named = recipientsIn(String(parameters['recipient']));
    const refused = named.flatMap((recipient) => this.refusalOf(recipient));
    const allowed = without(named, refused);
    if (allowed.length === 0) {
      throw new RefusedError([...new Set(refused.map(({ why }) => why))].slice(0, 3).join(' '));
    }
    const { from } = this.config;
    const [subject, text] = [String(parameters['subject']), String(parameters['message'])];
    const to = allowed.slice(0, MAX_RECIPIENTS);
    // The header names no recipients, so that they do not see each other.
    const shown = named.length === 1 ? to : [];
    const content = await mailContent({ from, to: shown, subject, text, id });
    const server = serverOf(this.config);
    const answer = await this.attempts.run(
      this.gate!,
      (departure) => this.smtp.deliver(server, { from, to, content }, departure),
      {
        // Repeated only if no mail was handed over, or after a temporary refusal.
        idempotent: false,
        stateBy: ({ code }) => (code === CLOSING ? 'failing' : 'well'),
        pauseAfter: ({ code }) => (code >= 400 && code < 500 ? 0 : undefined),
      },
    );
    const { text: said, rejected = [] } = this.accepted(answer);
    const reply = this.text.line(said);
    if (named.length === 1) {
      return { kind: 'done', message: 'The mail server took the message.', data: { reply } };
    }
    // Each recipient gets the message at most once, so it is not sent again to rejected recipients.
    const notTaken = rejected.map((one) => ({ ...one, why: this.text.line(one.text) }));
    const leftOut = [...refused, ...notTaken];
    const sent_to = without(to, notTaken);
    const beyond = allowed.length - to.length;
    const words = [
      `The mail server took the message for ${sent_to.length} of ${named.length} recipients.`,
      beyond > 0 &&
        `One action reaches at most ${MAX_RECIPIENTS}: ${beyond} more were not addressed.`,
      leftOut.length > 0 && `Not sent to: ${leftOut.map(({ recipient }) => recipient).join(', ')}.`,
    ];
    const not_sent_to = leftOut.map(({ recipient, why }) => ({ recipient, why }));
    return {
      kind: 'done',
      message: words.filter(Boolean).join(' '),
      data: { reply, sent_to, ...(leftOut.length > 0 && { not_sent_to }) },
    };
  }

  private refusalOf(recipient: string): LeftOut[] {
    if (!isMailbox(recipient)) {
      const why =
        'The recipient must be an email address in ASCII, or several separated by commas.';
      return [{ recipient, why }];
    }
    const { from, allowed_recipient_domains: allowed = [domainOf(from)] } = this.config;
    const domain = domainOf(recipient);
    if (allowed.some((one) => one.toLowerCase() === domain)) return [];
    return [{ recipient, why: `The domain ${domain} is not in allowed_recipient_domains.` }];
  }

  /** Throws RefusedError if the server refused. */
  private accepted(reply: MailReply): MailReply {
    if (reply.code < 400) return reply;
    throw new RefusedError(`The mail server refused: ${this.text.line(reply.text)}`);
  }
}

const without = (
  recipients: readonly string[],
  leftOut: readonly { readonly recipient: string }[],
) => recipients.filter((one) => leftOut.every(({ recipient }) => recipient !== one));

/** Addresses in a list with commas or semicolons, without duplicates. */
function recipientsIn(list: string): string[] {
  const names = list.split(/[,;]/).map((one) => one.trim());
  const byAddress = Map.groupBy(names.filter(Boolean), (one) => one.toLowerCase());
  return byAddress.size === 0 ? [list] : [...byAddress.values()].map(([first]) => first!);
}
