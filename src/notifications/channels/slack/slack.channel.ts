import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Message } from '../../notification.js';
import type { Outcome } from '../channel.port.js';
import { HookChannelType, hookSchema } from '../hook-channel-type.js';
import { outcomeOf } from '../http-delivery.js';
import { slackMessage } from './slack-message.js';

/** A word of Slack's, such as `channel_is_archived`. Whatever else an answer holds is not repeated. */
const COMPLAINT = /^[a-z]+(?:_[a-z]+){1,6}$/;

export const SLACK_CHANNEL_SCHEMA = hookSchema(
  'The address of an incoming webhook, such as https://hooks.slack.com/services/….',
);

/** Posts each event into the one channel that the incoming webhook was made for. */
@Injectable()
export class SlackChannelType extends HookChannelType {
  readonly name = 'slack';
  readonly description = 'Slack: a message for people into one channel, by an incoming webhook.';
  readonly schema = SLACK_CHANNEL_SCHEMA;

  constructor(http: OutboundHttp) {
    super(http);
  }

  protected bodyOf(message: Message) {
    return slackMessage(message);
  }

  /** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors */
  protected read(answer: OutboundAnswer): Outcome {
    const outcome = outcomeOf(answer);
    const said = answer.body.length < 100 ? answer.text.trim() : '';
    if (outcome.kind !== 'delivered') {
      return COMPLAINT.test(said)
        ? { ...outcome, why: `${outcome.why} It said ${said}.` }
        : outcome;
    }
    if (said === 'ok') return outcome;
    return { kind: 'failed', why: 'It did not answer as Slack does.' };
  }
}
