import { storable } from '../../../platform/text.js';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Text that Slack shows as it is. Links (`<https://…|text>`) and mentions (`<!channel>`, `<@U1>`) begin with `<` alone, so
 * that nobody who writes into an incident can make one.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function slackText(text: string): string {
  return storable(text).replace(/[&<>]/g, (sign) => ESCAPES[sign]!);
}

/** A channel by name or id. The ids of people and of direct messages (`U…`, `W…`, `D…`) are none. */
const CHANNEL = /^(#?[\p{Ll}\p{Lo}\p{Lm}\p{N}_-]{1,80}|[CG][A-Z0-9]{5,20})$/u;

export function isChannel(text: string): boolean {
  return CHANNEL.test(text);
}
