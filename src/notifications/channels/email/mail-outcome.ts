import type { AnswerRedactor } from '../../../connectors/calls/answer-redactor.js';
import type { MailReply } from '../../../platform/net/smtp-session.js';
import type { Outcome } from '../channel.port.js';

/** How it stands with the recipients of a mail. */
interface Recipients {
  /** Whether others than those who were rejected have the mail. */
  readonly someHaveIt: boolean;
  /** Whether those who were rejected for now were it often enough. */
  readonly isLast: boolean;
}

/**
 * What the reply of a mail server means. Of what is wrong with the login, the sender or all the recipients (which it hears of
 * before the message), somebody may mend the configuration, so it is tried again; so is what it does not take for now.
 */
export function mailOutcome(
  { code, text, rejected = [], isOfMessage = false }: MailReply,
  { someHaveIt, isLast }: Recipients,
  redactor: AnswerRedactor,
): Outcome {
  const [first] = rejected;
  if (first && someHaveIt) {
    const names = rejected.map(({ recipient }) => recipient).join(', ');
    const why = `The mail server refused ${names}: ${redactor.line(first.text)}. The others have the message.`;
    const isForEver = isLast || rejected.every((one) => one.code >= 500);
    return isForEver ? { kind: 'refused', why } : { kind: 'failed', why, isPartial: true };
  }
  if (code < 400) return { kind: 'delivered' };
  const why = `The mail server refused: ${redactor.line(text)}`;
  return { kind: isOfMessage && code >= 500 && !isOfLogin(code) ? 'refused' : 'failed', why };
}

/** 530, 534, 535, 538: https://www.rfc-editor.org/rfc/rfc4954#section-6. Some servers say them after the message only. */
function isOfLogin(code: number): boolean {
  return code >= 530 && code < 540;
}
