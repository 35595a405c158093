import { Injectable } from '@nestjs/common';
import { mailContent } from '../../../connectors/adapters/smtp/mail-content.js';
import { replyRedactor, serverOf } from '../../../connectors/adapters/smtp/smtp-config.js';
import type { Config } from '../../../connectors/config/config-schema.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundSmtp } from '../../../platform/net/outbound-smtp.js';
import type { MailReply } from '../../../platform/net/smtp-session.js';
import { Targets } from '../../../platform/net/targets.js';
import type { Message } from '../../notification.js';
import { type Channel, ChannelType, type ConnectOptions, type Outcome } from '../channel.port.js';
import { failureOf } from '../net-failure.js';
import {
  EMAIL_CHANNEL_SCHEMA,
  type EmailChannelConfig,
  emailConfigProblems,
} from './email-config.js';
import { emailNote } from './email-note.js';
import { mailOutcome } from './mail-outcome.js';
import { PartlyDelivered } from './partly-delivered.js';

/**
 * How often those are tried again who are refused for now while others have the mail: for some ten minutes, as servers want that
 * refuse whom they do not know yet. Later messages about the incident wait so long, for all of them.
 */
const MOST_PARTIAL_ATTEMPTS = 6;

/** Sends one mail for each event to all recipients. Its Message-ID is that of the event, so that a copy is known as one. */
class EmailChannel implements Channel {
  constructor(
    private readonly channelId: string,
    private readonly config: EmailChannelConfig,
    private readonly smtp: OutboundSmtp,
    private readonly partly: PartlyDelivered,
  ) {}

  async deliver(message: Message, signal: AbortSignal): Promise<Outcome> {
    const { from, to } = this.config;
    const mail = `${this.channelId} ${message.eventId}`;
    const { holders } = this.partly.find(mail);
    const missing = to.filter((address) => !holders.includes(address));
    // Somebody took those who still had to get it out of the list.
    if (missing.length === 0) return { kind: 'delivered' };
    // All are named in it, also when only some of them still have to get it.
    const content = await mailContent({ ...emailNote(message), from, to });
    const departure = { signal, leave: async () => undefined };
    try {
      const outbound = { from, to: missing, content };
      const reply = await this.smtp.deliver(serverOf(this.config), outbound, departure);
      return this.outcomeOf(reply, mail, [...holders, ...newHolders(reply, missing)]);
    } catch (error) {
      return failureOf(error);
    }
  }

  private outcomeOf(reply: MailReply, mail: string, holders: readonly string[]): Outcome {
    const attempts = this.partly.find(mail).attempts + 1;
    const recipients = {
      someHaveIt: holders.length > 0,
      isLast: attempts >= MOST_PARTIAL_ATTEMPTS,
    };
    const outcome = mailOutcome(reply, recipients, replyRedactor(this.config));
    if (outcome.kind !== 'failed') this.partly.forget(mail);
    else if (outcome.isPartial) this.partly.remember(mail, { holders, attempts });
    return outcome;
  }
}

/** Who has a mail after the reply to it. */
function newHolders({ code, rejected = [] }: MailReply, to: readonly string[]): readonly string[] {
  if (code >= 400) return [];
  return to.filter((address) => rejected.every(({ recipient }) => recipient !== address));
}

@Injectable()
export class EmailChannelType extends ChannelType {
  readonly name = 'email';
  readonly description = 'Email: a message to some addresses, through your own mail server.';
  readonly destinations = [{ host: 'host', port: 'port', secure: 'secure' }];
  readonly schema = EMAIL_CHANNEL_SCHEMA;
  private readonly partly = new PartlyDelivered();

  constructor(
    private readonly smtp: OutboundSmtp,
    private readonly targets: Targets,
  ) {
    super();
  }

  override sentTo(config: Config): string[] {
    return [...super.sentTo(config), ...(config as unknown as EmailChannelConfig).to];
  }

  override problems(config: Config, path: string): FieldError[] {
    return emailConfigProblems(config as unknown as EmailChannelConfig, path, this.targets);
  }

  connect(config: Config, { channelId }: ConnectOptions): Channel {
    const email = config as unknown as EmailChannelConfig;
    return new EmailChannel(channelId, email, this.smtp, this.partly);
  }
}
