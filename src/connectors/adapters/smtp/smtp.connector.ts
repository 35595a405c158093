import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import {
  OutboundSmtp,
  type MailReply,
  type OutboundMail,
} from '../../../platform/net/outbound-smtp.js';
import { Targets } from '../../../platform/net/targets.js';
import { AnswerRedactor } from '../../calls/vendor-answers.js';
import { Attempts } from '../../calls/vendor-calls.js';
import { measureTest } from '../../calls/vendor-calls.js';
import type { Config } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
  ConnectorType,
} from '../../connector-type.js';
import { mailContent } from '../../../targets/mail-account.js';
import {
  domainOf,
  domainsOf,
  isMailbox,
  mailAccountProblems,
  mailSecrets,
  SMTP_SCHEMA,
  type SmtpConfig,
  serverOf,
} from '../../../targets/mail-account.js';

/** The server is shutting down (RFC 5321, 4.2.2). Other replies concern only this mail. */
const CLOSING = 421;

/** Number of recipients that every server accepts (RFC 5321, 4.5.3.1.8). */
const MAX_RECIPIENTS = 100;

/** A recipient who does not get the message, with the reason. */
interface LeftOut {
  readonly recipient: string;
  readonly why: string;
}

/** Sends plain text to recipients of allowed domains. */
export class SmtpConnector extends Connector {
  private readonly text: AnswerRedactor;

  constructor(
    identity: ConnectorIdentity,
    private readonly config: SmtpConfig,
    private readonly smtp: OutboundSmtp,
    private readonly attempts = new Attempts(sleep),
  ) {
    super(identity);
    this.text = new AnswerRedactor(mailSecrets(config));
  }

  provides(type: ActionTypeName): boolean {
    return type === 'notify_user';
  }

  /** Servers deliver a repeated mail twice. */
  idempotent(): boolean {
    return false;
  }

  async execute({ actionId, parameters }: ActionCall, gate: Gate): Promise<Outcome> {
    const named = recipientsIn(String(parameters.recipient));
    const leftOut = named.flatMap((recipient): LeftOut[] => {
      const why = this.refusalOf(recipient);
      return why === undefined ? [] : [{ recipient, why }];
    });
    const allowed = named.filter((one) => leftOut.every(({ recipient }) => recipient !== one));
    if (allowed.length === 0) return { kind: 'refused', message: noneAllowed(leftOut) };
    const { from } = this.config;
    const subject = String(parameters.subject);
    const text = String(parameters.message);
    const to = allowed.slice(0, MAX_RECIPIENTS);
    // The header names no recipients, so that they do not see each other.
    const shown = named.length === 1 ? to : [];
    const content = await mailContent({ from, to: shown, subject, text, id: actionId });
    const reply = await this.hand({ from, to, content }, gate);
    if (isRefusal(reply)) return { kind: 'refused', message: this.told(reply) };
    return this.sent(reply, { to, named: named.length, leftOut });
  }

  test(): Promise<TestResult> {
    return measureTest(async () => {
      const reply = await this.smtp.greet(serverOf(this.config), TEST_TIMEOUT_MS);
      if (!isRefusal(reply)) return { success: true, message: 'The mail server is ready.' };
      return { success: false, message: this.told(reply) };
    });
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
    return domainsOf(this.config).has(domainOf(recipient))
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

  private told({ text }: MailReply): string {
    return `The mail server refused: ${this.text.line(text)}`;
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

function isRefusal({ code }: MailReply): boolean {
  return code >= 400;
}

@Injectable()
export class SmtpType extends ConnectorType {
  readonly name = 'smtp';
  readonly description = 'A mail server: sends plain text to recipients of the allowed domains.';
  readonly actions = ['notify_user'] as const;
  readonly schema = SMTP_SCHEMA;
  readonly destinations = [{ host: 'host', port: 'port', secure: 'secure' }];

  constructor(
    private readonly smtp: OutboundSmtp,
    private readonly targets: Targets,
  ) {
    super();
  }

  override problems(config: Config, path: string): FieldError[] {
    return mailAccountProblems(config as unknown as SmtpConfig, path, this.targets);
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    return new SmtpConnector(identity, config as unknown as SmtpConfig, this.smtp);
  }
}
