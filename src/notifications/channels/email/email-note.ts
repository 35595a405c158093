import type { Note } from '../../../connectors/adapters/smtp/mail-content.js';
import { shortened } from '../../../incidents/title-text.js';
import { escapeHtml } from '../../../platform/http/page-look.js';
import type { Fact, Message } from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';

/** Mail programs show less of it. */
const LONGEST_SUBJECT = 250;

/** What people read in a mail, as plain text and as HTML. Both say the same. */
export function emailNote(message: Message): Omit<Note, 'from' | 'to'> {
  const { headline, facts, request, url } = shownWords(message);
  // A mail may come hours after the event.
  const when = { name: 'When', value: message.occurredAt.toISOString() };
  const shown = { headline, facts: [...facts, when], request, url: url && new URL(url).href };
  return {
    subject: shortened(headline, LONGEST_SUBJECT),
    text: textOf(shown),
    html: htmlOf(shown),
    id: message.eventId,
    threadId: message.incidentId,
  };
}

interface Shown {
  readonly headline: string;
  readonly facts: readonly Fact[];
  readonly request: string | undefined;
  readonly url: string | undefined;
}

/** Each fact is one line, so that none of them can look like another one. */
function textOf({ headline, facts, request, url }: Shown): string {
  const parts = [
    headline,
    facts.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    request,
    url && `${LINK_TEXT}:\n${url}`,
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

/** No style sheet, image or script: many mail programs show none, and nothing is to be loaded from anywhere. */
function htmlOf({ headline, facts, request, url }: Shown): string {
  const rows = facts.map(
    ({ name, value }) =>
      `<tr><th scope="row" align="left" valign="top">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(headline)}</title></head><body>`,
    `<h1 style="font-size:1.2em">${escapeHtml(headline)}</h1>`,
    `<table cellpadding="4">${rows.join('\n')}</table>`,
    ...(request === undefined ? [] : [`<p><strong>${escapeHtml(request)}</strong></p>`]),
    ...(url === undefined ? [] : [`<p><a href="${escapeHtml(url)}">${LINK_TEXT}</a></p>`]),
    '</body></html>',
  ].join('\n');
}
