import { storable } from '../../../platform/text.js';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes text so that Slack shows it unchanged. Links (`<https://…|text>`) and mentions (`<!channel>`, `<@U1>`) start
 * with `<`, so text of an incident cannot create them. https://docs.slack.dev/messaging/formatting-message-text
 */
export function slackText(text: string): string {
  return storable(text).replace(/[&<>]/g, (sign) => ESCAPES[sign]!);
}

/** A channel by name or id. Ids of people and direct messages (`U…`, `W…`, `D…`) do not match. */
const CHANNEL = /^(#?[\p{Ll}\p{Lo}\p{Lm}\p{N}_-]{1,80}|[CG][A-Z0-9]{5,20})$/u;

export function isChannel(text: string): boolean {
  return CHANNEL.test(text);
}
