import MailComposer from 'nodemailer/lib/mail-composer';
import { storable } from '../../../platform/text.js';
import { domainOf } from './smtp-config.js';

export interface Note {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The same in HTML, for whoever reads that. What strangers wrote must be escaped in it. */
  readonly html?: string;
  /** The same for every attempt, so that a mailbox that gets two copies can know them by their Message-ID. */
  readonly id: string;
  /** The same for all mails that belong together, so that mail programs show them as one conversation. */
  readonly threadId?: string;
}

/** Line breaks and everything else that is no character of a line, also those of Unicode. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** The whole message: what an attacker wrote becomes no header and no attachment, and no markup in its text. */
export async function mailContent(note: Note): Promise<Buffer> {
  const { from, to, subject, text, html, id, threadId } = note;
  const domain = domainOf(from);
  const composer = new MailComposer({
    from: { name: '', address: from },
    to: to.map((address) => ({ name: '', address })),
    // `=?` begins an encoded word (RFC 2047): a reader would decode what somebody else had encoded.
    subject: storable(subject).replace(BREAKS, ' ').replaceAll('=?', '= ?'),
    text: storable(text),
    html: html === undefined ? undefined : storable(html),
    messageId: `<${id}@${domain}>`,
    references: threadId === undefined ? undefined : `<${threadId}@${domain}>`,
    // RFC 3834: no absence notice answers a message of a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
