import MailComposer from 'nodemailer/lib/mail-composer';
import { storable } from '../../../platform/text.js';
import { domainOf } from './smtp-config.js';

export interface Note {
  readonly from: string;
  /** Recipients in the header. Without any, the header says that they are undisclosed. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** HTML version of the text. Text of third parties must be escaped. */
  readonly html?: string;
  /** The same for every attempt, so that mailboxes recognise copies by the Message-ID. */
  readonly id: string;
  /** The same for all mails of a conversation. */
  readonly threadId?: string;
}

/** Line breaks and control characters, including those of Unicode. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** A group without members: RFC 5322, 3.4. */
const UNDISCLOSED = 'Undisclosed recipients:;';

/** Builds the message. Text of attackers cannot become a header, an attachment or markup. */
export async function mailContent(note: Note): Promise<Buffer> {
  const { from, to, subject, text, html, id, threadId } = note;
  const domain = domainOf(from);
  const composer = new MailComposer({
    from: { name: '', address: from },
    to: to.length === 0 ? UNDISCLOSED : to.map((address) => ({ name: '', address })),
    // `=?` starts an encoded word (RFC 2047), which mail clients would decode.
    subject: storable(subject).replace(BREAKS, ' ').replaceAll('=?', '= ?'),
    text: storable(text),
    html: html === undefined ? undefined : storable(html),
    messageId: `<${id}@${domain}>`,
    references: threadId === undefined ? undefined : `<${threadId}@${domain}>`,
    // RFC 3834: prevents automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
