import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import type { Gate } from '../../../platform/net/gate.js';
import { OutboundSmtp } from '../../../platform/net/outbound-smtp.js';
import type { MailReply, OutboundMail } from '../../../platform/net/smtp-session.js';
import { Targets } from '../../../platform/net/targets.js';
import type { AnswerRedactor } from '../../calls/answer-redactor.js';
import { Attempts } from '../../calls/attempts.js';
import { measureTest } from '../../calls/vendor-calls.js';
import type { Config } from '../../config/config-schema.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector.port.js';
import { ConnectorType } from '../../connector-type.port.js';
import { mailContent } from './mail-content.js';
import {
  domainOf,
  domainsOf,
  isMailbox,
  mailAccountProblems,
  replyRedactor,
  SMTP_SCHEMA,
  type SmtpConfig,
  serverOf,
} from './smtp-config.js';

/** The server is about to end (RFC 5321, 4.2.2). Other replies speak of this mail alone. */
const CLOSING = 421;

/** Sends plain text to people of allowed domains. */
export class SmtpConnector extends Connector {
  private readonly text: AnswerRedactor;

  constructor(
    identity: ConnectorIdentity,
    private readonly config: SmtpConfig,
    private readonly smtp: OutboundSmtp,
    private readonly attempts = new Attempts(sleep),
  ) {
    super(identity);
    this.text = replyRedactor(config);
  }

  provides(type: ActionTypeName): boolean {
    return type === 'notify_user';
  }

  /** No server forgets a second copy. */
  idempotent(): boolean {
    return false;
  }

  async execute({ actionId, parameters }: ActionCall, gate: Gate): Promise<Outcome> {
    const recipient = String(parameters.recipient);
    const refusal = this.refusalOf(recipient);
    if (refusal) return { kind: 'refused', message: refusal };
    const { from } = this.config;
    const subject = String(parameters.subject);
    const text = String(parameters.message);
    const to = [recipient];
    const content = await mailContent({ from, to, subject, text, id: actionId });
    return this.read(await this.hand({ from, to, content }, gate));
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
      // Repeating is safe after errors that say that no mail was handed over, and after a refusal for now.
      idempotent: false,
      stateBy: ({ code }) => (code === CLOSING ? 'failing' : 'well'),
      pauseAfter: ({ code }) => (code >= 400 && code < 500 ? 0 : undefined),
    });
  }

  private refusalOf(recipient: string): string | undefined {
    if (!isMailbox(recipient)) return 'The recipient must be one email address in ASCII.';
    return domainsOf(this.config).has(domainOf(recipient))
      ? undefined
      : `The domain ${domainOf(recipient)} is not in allowed_recipient_domains.`;
  }

  private read(reply: MailReply): Outcome {
    if (isRefusal(reply)) return { kind: 'refused', message: this.told(reply) };
    const data = { reply: this.text.line(reply.text) };
    return { kind: 'done', message: 'The mail server took the message.', data };
  }

  private told({ text }: MailReply): string {
    return `The mail server refused: ${this.text.line(text)}`;
  }
}

function isRefusal({ code }: MailReply): boolean {
  return code >= 400;
}

@Injectable()
export class SmtpType extends ConnectorType {
  readonly name = 'smtp';
  readonly description = 'A mail server: sends plain text to people of the domains that it names.';
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
