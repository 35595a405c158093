import { AnswerRedactor } from '../../connectors/calls/vendor-answers.js';
import { shortened } from '../../incidents/raw-data-text.js';
import type { MailReply } from '../../platform/net/outbound-smtp.js';
import {
  isMailbox,
  MAIL_SERVER_PROPERTIES,
  mailAccountProblems,
  mailContent,
  mailSecrets,
  type Note,
  notOneAddress,
  serverOf,
} from '../../targets/mail-account.js';
import { fields } from '../../targets/target-config.js';
import { defineChannel, failureOf, type Outcome, type PartlySent } from '../channel-type.js';
import { incidentIn, LINK_TEXT, type Message, shownWords } from '../notification.js';

/** Sends one mail per event to all recipients. The Message-ID contains the event id, so that mail clients recognize a copy. */
export const email = defineChannel({
  name: 'email',
  audience: 'people',
  description: 'Email: a message to up to 20 recipients, through your mail server.',
  config: fields(
    {
      ...MAIL_SERVER_PROPERTIES,
      to: {
        type: 'array',
        items: { type: 'string', minLength: 3, maxLength: 320 },
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Recipients of each message. The mail names all of them.',
      },
    },
    ['host', 'from', 'to'],
  ),
  sentTo: ({ to }) => to,
  problems: (config, targets) => [
    ...mailAccountProblems(config, targets),
    ...config.to.flatMap((address, at) =>
      isMailbox(address) ? [] : [notOneAddress(`config.to.${at}`)],
    ),
  ],
  async send({ config, message, signal, smtp, partlySent: { holders, attempts } = NOT_SENT }) {
    const { from, to } = config;
    const missing = to.filter((address) => !holders.includes(address));
    // All recipients without the mail were removed from the configuration.
    if (missing.length === 0) return { kind: 'delivered' };
    // The header contains all recipients, even if the mail goes only to some of them.
    const content = await mailContent({ ...emailNote(message), from, to });
    const departure = { signal, leave: async () => undefined };
    try {
      const reply = await smtp.deliver(serverOf(config), { from, to: missing, content }, departure);
      const { code, rejected = [] } = reply;
      const hasMail = (one: string) => rejected.every(({ recipient }) => recipient !== one);
      const reached = [...holders, ...missing.filter((address) => code < 400 && hasMail(address))];
      const redactor = new AnswerRedactor(mailSecrets(config));
      return mailOutcome(reply, { holders: reached, attempts }, redactor);
    } catch (error) {
      return failureOf(error);
    }
  },
});

const NOT_SENT: PartlySent = { holders: [], attempts: 1 };

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

/** Errors of the login, the sender or all recipients are retried, because an administrator may correct the configuration. */
function mailOutcome(
  { code, text, rejected = [], isOfMessage = false }: MailReply,
  { holders, attempts }: PartlySent,
  redactor: AnswerRedactor,
): Outcome {
  const [first] = rejected;
  if (first && holders.length > 0) {
    const names = rejected.map(({ recipient }) => recipient).join(', ');
    const why = `The mail server refused ${names}: ${redactor.line(first.text)}. The others have the message.`;
    const isPermanent = attempts >= PARTIAL_ATTEMPTS || rejected.every(({ code }) => code >= 500);
    return isPermanent
      ? { kind: 'refused', why, isPartly: true }
      : { kind: 'failed', why, isPartly: true, holders };
  }
  if (code < 400) return { kind: 'delivered' };
  const why = `The mail server refused: ${redactor.line(text)}`;
  // Some servers report a login error only after the message: https://www.rfc-editor.org/rfc/rfc4954#section-6.
  const isOfLogin = code >= 530 && code < 540;
  return { kind: isOfMessage && code >= 500 && !isOfLogin ? 'refused' : 'failed', why };
}

/** About ten minutes, as greylisting servers require. Later messages about the incident wait during that time. */
const PARTIAL_ATTEMPTS = 6;
