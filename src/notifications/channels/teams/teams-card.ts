import type { Message } from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';

const MOST_FACTS = 12;

/**
 * An Adaptive Card, as a workflow takes it. All its text is in runs (`TextRun`): unlike TextBlock and FactSet they know no
 * Markdown, so that nobody who writes into an incident can make a link, a list or an image.
 * https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
 */
export function teamsMessage(message: Message): Readonly<Record<string, unknown>> {
  const { headline, facts, request, url } = shownWords(message);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line({ ...run(headline), size: 'Large', weight: 'Bolder' }),
      ...facts
        .slice(0, MOST_FACTS)
        .map(({ name, value }) => line({ ...run(`${name}: `), weight: 'Bolder' }, run(value))),
      ...(request === undefined ? [] : [line(run(request))]),
    ],
    actions: url === undefined ? [] : [{ type: 'Action.OpenUrl', title: LINK_TEXT, url }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

function line(...inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines };
}

/** A card computes what stands in double braces, `{{DATE(…)}}`, and templates what stands in `${…}`. */
function run(text: string) {
  const inert = text.replace(/\{(?=\{)/g, '{ ').replaceAll('${', '$ {');
  return { type: 'TextRun', text: inert };
}
