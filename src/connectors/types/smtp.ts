import type { Gate } from '../../platform/net/outbound-request.js';
import type { MailReply } from '../../platform/net/outbound-smtp.js';
import {
  domainOf,
  isMailbox,
  MAIL_SERVER_PROPERTIES,
  mailAccountProblems,
  mailContent,
  serverOf,
} from '../../targets/mail-account.js';
import { type ConfigOf, fields, optional } from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { type Outbound, QUESTION_TIMEOUT_MS, VendorCalls } from '../calls/vendor-calls.js';
import { type ActionCall, defineConnector, done, type Outcome } from '../connector-type.js';

/** Reply code of a server that shuts down (RFC 5321, 4.2.2). Any other reply code concerns only this mail. */
const CLOSING = 421;

const CONFIG = fields({
  ...MAIL_SERVER_PROPERTIES,
  allowed_recipient_domains: optional({
    type: 'array',
    items: { type: 'string', pattern: '^[A-Za-z0-9.-]+$', maxLength: 253 },
    maxItems: 100,
    uniqueItems: true,
    description:
      'Domains of allowed recipients, without subdomains. Default: the domain of `from`.',
  }),
});

type MailServer = ReturnType<ReturnType<typeof connect>>;

function connect(config: ConfigOf<typeof CONFIG>, { smtp, secrets, ...outbound }: Outbound) {
  const text = new AnswerRedactor(secrets);
  const calls = new VendorCalls(outbound);
  return (gate?: Gate) => ({ config, smtp, calls, text, gate });
}

export const smtp = defineConnector({
  name: 'smtp',
  description: 'A mail server: sends plain text to recipients of the allowed domains.',
  config: CONFIG,
  problems: mailAccountProblems,
  connect,
  // Not idempotent, because servers deliver a repeated mail twice.
  actions: { notify_user: { send: notify } },
  test: async ({ config, smtp, text }) => {
    accepted(await smtp.greet(serverOf(config), QUESTION_TIMEOUT_MS), text);
    return 'The mail server is ready.';
  },
});

async function notify(
  { config, smtp, calls, text, gate }: MailServer,
  { actionId: id, parameters }: ActionCall,
): Promise<Outcome> {
  const named = recipientsIn(String(parameters['recipient']));
  const reasons = new Map<string, string>();
  for (const recipient of named) {
    const why = refusalOf(recipient, config);
    if (why) reasons.set(recipient, why);
  }
  const allowed = () => named.filter((one) => !reasons.has(one));
  const to = allowed();
  if (to.length === 0) throw new RefusedError([...new Set(reasons.values())].join(' '));
  const { from } = config;
  const [subject, message] = [String(parameters['subject']), String(parameters['message'])];
  // If there are several recipients, the header names none of them, so that recipients do not see each other.
  const shown = named.length === 1 ? to : [];
  const content = await mailContent({ from, to: shown, subject, text: message, id });
  const answer = await calls.attempt(
    gate!,
    (departure) => smtp.deliver(serverOf(config), { from, to, content }, departure),
    // `false`: not idempotent. The mail is sent again only if it was not sent before, or after a temporary rejection.
    false,
    ({ code }) => ({
      state: code === CLOSING ? 'failing' : 'well',
      pauseMs: code >= 400 && code < 500 ? 0 : undefined,
    }),
  );
  const { text: reply, rejected = [] } = accepted(answer, text);
  // The message is not sent again to rejected recipients, so that each recipient gets at most one copy.
  for (const one of rejected) reasons.set(one.recipient, text.line(one.text));
  const sent_to = allowed();
  const not_sent_to = Array.from(reasons, ([recipient, why]) => ({ recipient, why }));
  const words = `The mail server took the message for ${sent_to.length} of ${named.length} recipients.`;
  const data = { reply: text.line(reply), sent_to };
  if (reasons.size === 0) return done(words, data);
  return done(`${words} Not sent to: ${[...reasons.keys()].join(', ')}.`, { ...data, not_sent_to });
}

function refusalOf(recipient: string, config: MailServer['config']): string | undefined {
  if (!isMailbox(recipient)) {
    return 'The recipient must be an email address in ASCII, or several separated by commas.';
  }
  const { from, allowed_recipient_domains: allowed = [domainOf(from)] } = config;
  const domain = domainOf(recipient);
  if (allowed.some((one) => one.toLowerCase() === domain)) return undefined;
  return `The domain ${domain} is not in allowed_recipient_domains.`;
}

function accepted(reply: MailReply, text: AnswerRedactor): MailReply {
  if (reply.code < 400) return reply;
  throw new RefusedError(`The mail server refused: ${text.line(reply.text)}`);
}

function recipientsIn(list: string): string[] {
  const names = list.split(/[,;]/).map((one) => one.trim());
  const byAddress = Map.groupBy(names.filter(Boolean), (one) => one.toLowerCase());
  return byAddress.size === 0 ? [list] : [...byAddress.values()].map(([first]) => first!);
}
