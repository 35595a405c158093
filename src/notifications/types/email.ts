import { AnswerRedactor } from '../../connectors/calls/vendor-answers.js';
import { shortened } from '../../incidents/raw-data-text.js';
import type { MailReply } from '../../platform/net/outbound-smtp.js';
import {
  isMailbox,
  MAIL_SERVER_PROPERTIES,
  mailAccountProblems,
  mailContent,
  type Note,
  notOneAddress,
  serverOf,
} from '../../targets/mail-account.js';
import { fields } from '../../targets/target-config.js';
import { defineChannel } from '../channel-type.js';
import type { Outcome } from '../delivery.js';
import { incidentIn, LINK_TEXT, type Message, shownWords } from '../notification.js';

/** Sends one mail per event to all recipients. The Message-ID contains the event id, so that mail clients recognize a copy. */
export const email = defineChannel({
  name: 'email',
  audience: 'people',
  description: 'Email: a message to up to 20 recipients, through your mail server.',
  config: fields({
    ...MAIL_SERVER_PROPERTIES,
    to: {
      type: 'array',
      items: { type: 'string', minLength: 3, maxLength: 320 },
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'Recipients of each message. The mail names all of them.',
    },
  }),
  sentTo: ({ to }) => to,
  problems: (config, targets) => [
    ...mailAccountProblems(config, targets),
    ...config.to.flatMap((address, at) =>
      isMailbox(address) ? [] : [notOneAddress(`config.to.${at}`)],
    ),
  ],
  async send({ config, message, signal, smtp }) {
    const { from, to } = config;
    const content = await mailContent({ ...emailNote(message), from, to });
    const departure = { signal, leave: async () => undefined };
    const reply = await smtp.deliver(serverOf(config), { from, to, content }, departure);
    return mailOutcome(reply, new AnswerRedactor(config.password ? [config.password] : []));
  },
});

const MAX_SUBJECT = 250;

/** Writes each fact on one line, so that no value can look like another fact. */
function emailNote(message: Message): Omit<Note, 'from' | 'to'> {
  const { headline, facts, request, url } = shownWords(message);
  // A mail may arrive hours after the event.
  const lines = [...facts, { name: 'When', value: message.event.timestamp }];
  const parts = [
    headline,
    lines.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    request,
    url && `${LINK_TEXT}:\n${new URL(url).href}`,
  ];
  return {
    subject: shortened(headline, MAX_SUBJECT),
    text: parts.filter((part) => part !== undefined).join('\n\n'),
    id: message.event.id,
    threadId: incidentIn(message.event)?.id,
  };
}

/** Errors about login, sender or all recipients lead to a retry: an administrator may correct the configuration. */
function mailOutcome(
  { code, text, rejected = [], isOfMessage = false }: MailReply,
  redactor: AnswerRedactor,
): Outcome {
  if (code < 400) {
    const [first] = rejected;
    if (!first) return { kind: 'delivered' };
    const names = rejected.map(({ recipient }) => recipient).join(', ');
    const why = `The mail server refused ${names}: ${redactor.line(first.text)}. The others have the message.`;
    return { kind: 'delivered', why };
  }
  const why = `The mail server refused: ${redactor.line(text)}`;
  // Some servers report a login error only after the message: https://www.rfc-editor.org/rfc/rfc4954#section-6.
  const isOfLogin = code >= 530 && code < 540;
  return { kind: isOfMessage && code >= 500 && !isOfLogin ? 'refused' : 'failed', why };
}
