import { slackText } from '../../../connectors/types/slack.js';
import type { Message } from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';
import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Outcome } from '../channel.port.js';
import { HookChannelType, hookSchema } from '../hook-channel-type.js';
import { outcomeOf } from '../http-delivery.js';

/** Slack takes no header that is longer, and no section of more fields. */
const LONGEST_HEADER = 150;
const MOST_FIELDS = 10;
const MOST_FACTS = 2 * MOST_FIELDS;

/**
 * What Slack shows, in blocks. What strangers may have written is `plain_text` alone, in which Slack reads no mrkdwn, and
 * escaped, so that it holds no mention and no link. Only our own link is mrkdwn.
 * https://docs.slack.dev/reference/block-kit/blocks, https://docs.slack.dev/messaging/formatting-message-text
 */
function slackMessage(message: Message): Readonly<Record<string, unknown>> {
  const { headline, facts, request, url } = shownWords(message);
  const fields = facts.slice(0, MOST_FACTS).map(({ name, value }) => plain(`${name}\n${value}`));
  const sections = [fields.slice(0, MOST_FIELDS), fields.slice(MOST_FIELDS)];
  return {
    // Shown where blocks are not, such as on a lock screen.
    text: slackText(headline),
    mrkdwn: false,
    blocks: [
      header(headline),
      ...sections.flatMap((part) => (part.length > 0 ? [{ type: 'section', fields: part }] : [])),
      ...(request === undefined ? [] : [{ type: 'section', text: plain(request) }]),
      ...(url === undefined ? [] : [{ type: 'section', text: link(url) }]),
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** A headline that is too long for a header is a section. */
function header(headline: string): object {
  const text = plain(headline);
  return { type: text.text.length > LONGEST_HEADER ? 'section' : 'header', text };
}

function plain(text: string) {
  return { type: 'plain_text', text: slackText(text), emoji: false };
}

/** In an address of ours are no `|`, `<` and `>`: URL writes them otherwise. */
function link(url: string): object {
  const address = slackText(new URL(url).href).replaceAll('|', '%7C');
  return { type: 'mrkdwn', text: `<${address}|${LINK_TEXT}>`, verbatim: true };
}

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
  readonly config = SLACK_CHANNEL_SCHEMA;

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
