import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { defineHook, outcomeOf } from '../channel-type.js';
import type { Outcome } from '../delivery.js';
import { LINK_TEXT, type Message, shownWords } from '../notification.js';

const MAX_FACTS = 12;

export const teams = defineHook({
  name: 'teams',
  description:
    'Microsoft Teams: an Adaptive Card into a channel or chat, by a workflow that accepts webhooks.',
  hook: 'The address of a workflow that starts when a Teams webhook request is received.',
  bodyOf: teamsMessage,
  read: readAnswer,
});

/** Uses TextRun, which has no Markdown: https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features */
function teamsMessage(message: Message): object {
  const { headline, facts, request, url } = shownWords(message);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line({ ...run(headline), size: 'Large', weight: 'Bolder' }),
      ...facts
        .slice(0, MAX_FACTS)
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

/** Changes texts that cards would evaluate: `{{DATE(…)}}` and templates `${…}`. */
function run(text: string) {
  const inert = text.replace(/\{(?=\{)/g, '{ ').replaceAll('${', '$ {');
  return { type: 'TextRun', text: inert };
}

/** Status 202 means only that the workflow accepted the message, even if Teams does not show the card. */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  // The page of a proxy, or the text with which a Microsoft 365 connector reports a failure despite status 200.
  if (outcome.kind === 'delivered' && answer.body.length > 0 && answer.json === undefined) {
    return { kind: 'failed', why: 'The response is text, and not a response of a workflow.' };
  }
  const { error } = (answer.json ?? {}) as { readonly error?: { readonly code?: unknown } | null };
  // The message itself is valid, so the delivery is retried: an administrator may turn on the workflow.
  if (outcome.kind === 'refused' && error?.code === 'WorkflowTriggerIsNotEnabled') {
    return { kind: 'failed', why: 'The workflow is turned off.' };
  }
  return outcome;
}
