import MailComposer from 'nodemailer/lib/mail-composer';
import { storable } from '../../../platform/text.js';
import { domainOf } from './smtp-config.js';

export interface Note {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for every attempt, so that a mailbox that gets two copies can know them by their Message-ID. */
  readonly actionId: string;
}

/** Line breaks and everything else that is no character of a line, also those of Unicode. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** The whole message, with plain text only: what an attacker wrote becomes no markup, no attachment and no header. */
export async function mailContent({ from, to, subject, text, actionId }: Note): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: '', address: from },
    to: { name: '', address: to },
    // `=?` begins an encoded word (RFC 2047): a reader would decode what somebody else had encoded.
    subject: storable(subject).replace(BREAKS, ' ').replaceAll('=?', '= ?'),
    text: storable(text),
    messageId: `<${actionId}@${domainOf(from)}>`,
    // RFC 3834: no absence notice answers a message of a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
