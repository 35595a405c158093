import { Injectable } from '@nestjs/common';
import type { Config } from '../../../connectors/config/config-schema.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Message } from '../../notification.js';
import { type Channel, ChannelType, type Outcome } from '../channel.port.js';
import { httpsProblems, outcomeOf, postJson } from '../http-delivery.js';
import { SLACK_CHANNEL_SCHEMA, type SlackChannelConfig } from './slack-config.js';
import { slackMessage } from './slack-message.js';

/** Posts each event into the one channel that the incoming webhook was made for. */
class SlackChannel implements Channel {
  constructor(
    private readonly url: URL,
    private readonly http: OutboundHttp,
  ) {}

  async deliver(message: Message, signal: AbortSignal): Promise<Outcome> {
    const body = JSON.stringify(slackMessage(message));
    return await postJson(this.http, { url: this.url, body, signal }, readAnswer);
  }
}

/** A word of Slack's, such as `channel_is_archived`. Whatever else an answer holds is not repeated. */
const COMPLAINT = /^[a-z]+(?:_[a-z]+){1,6}$/;

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  const said = answer.body.length < 100 ? answer.text.trim() : '';
  if (outcome.kind !== 'delivered') {
    return COMPLAINT.test(said) ? { ...outcome, why: `${outcome.why} It said ${said}.` } : outcome;
  }
  if (said === 'ok') return outcome;
  return { kind: 'failed', why: 'It did not answer as Slack does.' };
}

@Injectable()
export class SlackChannelType extends ChannelType {
  readonly name = 'slack';
  readonly description = 'Slack: a message for people into one channel, by an incoming webhook.';
  /** The address is the secret. */
  readonly destinations = [];
  readonly schema = SLACK_CHANNEL_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override problems(config: Config, path: string): FieldError[] {
    const { webhook_url } = config as unknown as SlackChannelConfig;
    return httpsProblems(webhook_url, `${path}.webhook_url`);
  }

  connect(config: Config): Channel {
    const { webhook_url } = config as unknown as SlackChannelConfig;
    return new SlackChannel(new URL(webhook_url), this.http);
  }
}
