import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { storable } from '../../platform/text.js';
import { address, fields, secret } from '../../targets/target-config.js';
import { RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { vendorApi } from '../calls/vendor-api.js';
import { defineConnector, done } from '../connector-type.js';

/** Maximum length of a message. Slack cuts longer messages without an error. */
const LONGEST_TEXT = 40_000;
/** Errors after which the message may have been posted. After other errors, the message was not posted. */
const UNCLEAR = /^(fatal_error|internal_error|request_timeout|service_unavailable)$/;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const CHANNEL = /^(#?[\p{Ll}\p{Lo}\p{Lm}\p{N}_-]{1,80}|[CG][A-Z0-9]{5,20})$/u;

export const slack = defineConnector({
  name: 'slack',
  description: 'Slack: posts plain text into channels of which the bot is a member.',
  config: fields({
    base_url: address('Address of the Slack API.', { default: 'https://slack.com/api' }),
    bot_token: secret('Bot token (xoxb-…) of an app with the scope chat:write.', {
      pattern: '^[\\x21-\\x7e]+$',
      maxLength: 500,
    }),
  }),
  connect: ({ base_url, bot_token }, outbound) => {
    const headers = { authorization: `Bearer ${bot_token}` };
    return vendorApi(outbound, { vendor: 'Slack', baseUrl: base_url, headers, complaintIn });
  },
  actions: {
    // Not idempotent, because Slack posts a repeated message twice.
    notify_channel: {
      send: async (api, { parameters }) => {
        const channel = String(parameters['channel']);
        if (!CHANNEL.test(channel)) throw new RefusedError('channel must be a name or an id (C…).');
        const text = slackText(String(parameters['message']));
        if (text.length > LONGEST_TEXT) {
          throw new RefusedError(`A Slack message must have at most ${LONGEST_TEXT} characters.`);
        }
        const plain = { mrkdwn: false, parse: 'none', link_names: false };
        const body = { channel, text, ...plain, unfurl_links: false, unfurl_media: false };
        return await api.change({ path: ['chat.postMessage'], body }, (json) => {
          refuseFailures(json);
          const data = { channel: textAt(json, 'channel'), ts: textAt(json, 'ts') };
          return done('Slack posted the message.', data);
        });
      },
    },
  },
  test: async (api) => {
    await api.ask({ method: 'POST', path: ['auth.test'] }, (json) => {
      refuseFailures(json);
      return textAt(json, 'team_id');
    });
    return 'Slack accepts the token.';
  },
});

/** Escapes `<`, which starts links and mentions: https://docs.slack.dev/messaging/formatting-message-text */
export function slackText(text: string): string {
  return storable(text).replace(/[&<>]/g, (sign) => ESCAPES[sign]!);
}

function refuseFailures(json: unknown): void {
  if (valueAt(json, 'ok') === true) return;
  const error = valueAt(json, 'error');
  // Any other error text may contain a secret.
  const cause = typeof error === 'string' && UNCLEAR.test(error) ? `: ${error}` : '';
  throw new OutcomeUnknownError(`Slack did not confirm the message${cause}.`, 'broken');
}

/** https://docs.slack.dev/reference/methods/chat.postMessage#errors */
function complaintIn(json: unknown): string | undefined {
  const error = valueAt(json, 'error');
  if (valueAt(json, 'ok') !== false || typeof error !== 'string') return undefined;
  return UNCLEAR.test(error) ? undefined : error;
}
