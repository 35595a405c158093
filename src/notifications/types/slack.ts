import { slackText } from '../../connectors/types/slack.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { defineHook, outcomeOf } from '../channel-type.js';
import type { Outcome } from '../delivery.js';
import { LINK_TEXT, type Message, shownWords } from '../notification.js';

const MAX_HEADER = 150;
const MAX_FIELDS = 10;

export const slack = defineHook({
  name: 'slack',
  description: 'Slack: a message for people into one channel, by an incoming webhook.',
  hook: 'The address of an incoming webhook, such as https://hooks.slack.com/services/….',
  bodyOf: slackMessage,
  read: readAnswer,
});

/** Third-party text is `plain_text`, without links and mentions: https://docs.slack.dev/reference/block-kit/blocks */
function slackMessage(message: Message): object {
  const { headline, facts, request, url } = shownWords(message);
  const fields = facts.map(({ name, value }) => plain(`${name}\n${value}`));
  const sections = [fields.slice(0, MAX_FIELDS), fields.slice(MAX_FIELDS, 2 * MAX_FIELDS)];
  return {
    text: slackText(headline),
    mrkdwn: false,
    blocks: [
      header(headline),
      ...sections.flatMap((part) => (part.length > 0 ? [{ type: 'section', fields: part }] : [])),
      ...(request ? [{ type: 'section', text: plain(request) }] : []),
      ...(url ? [{ type: 'section', text: link(url) }] : []),
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

function header(headline: string): object {
  const text = plain(headline);
  return { type: text.text.length > MAX_HEADER ? 'section' : 'header', text };
}

function plain(text: string) {
  return { type: 'plain_text', text: slackText(text), emoji: false };
}

/** Also encodes `|`, which would end the address in a Slack link. `URL` encodes only `<` and `>`. */
function link(url: string): object {
  const address = slackText(new URL(url).href).replaceAll('|', '%7C');
  return { type: 'mrkdwn', text: `<${address}|${LINK_TEXT}>`, verbatim: true };
}

const ERROR_CODE = /^[a-z]+(?:_[a-z]+){1,6}$/;

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  const text = answer.body.length < 100 ? answer.text.trim() : '';
  if (outcome.kind !== 'delivered') {
    return ERROR_CODE.test(text)
      ? { ...outcome, why: `${outcome.why} Slack said ${text}.` }
      : outcome;
  }
  if (text === 'ok') return outcome;
  return { kind: 'failed', why: 'The response is not a response of Slack.' };
}
