import type { Message } from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';
import { Injectable } from '@nestjs/common';
import type { Config } from '../../../targets/target-config.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Outcome } from '../channel.port.js';
import { HookChannelType, hookSchema } from '../hook-channel-type.js';
import { outcomeOf } from '../http-delivery.js';

const MOST_FACTS = 12;

/**
 * An Adaptive Card, as a workflow takes it. All its text is in runs (`TextRun`): unlike TextBlock and FactSet they know no
 * Markdown, so that nobody who writes into an incident can make a link, a list or an image.
 * https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
 */
function teamsMessage(message: Message): Readonly<Record<string, unknown>> {
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

/** Hosts of the connectors of Microsoft 365, which came before workflows and take no Adaptive Cards. */
const OLD_CONNECTORS = /(^|\.)(webhook\.office|outlook\.office|outlook\.office365)\.com$/;

export const TEAMS_CHANNEL_SCHEMA = hookSchema(
  'The address of a workflow that starts when a Teams webhook request is received.',
);

/** Starts the workflow once for each event, which posts the card. */
@Injectable()
export class TeamsChannelType extends HookChannelType {
  readonly name = 'teams';
  readonly description =
    'Microsoft Teams: an Adaptive Card into a channel or chat, by a workflow that takes webhooks.';
  readonly config = TEAMS_CHANNEL_SCHEMA;

  constructor(http: OutboundHttp) {
    super(http);
  }

  override problems(config: Config, path: string): FieldError[] {
    return [...super.problems(config, path), ...connectorProblems(config, path)];
  }

  protected bodyOf(message: Message) {
    return teamsMessage(message);
  }

  /** A workflow that takes the message says 202, and says nothing of whether Teams showed it. */
  protected read(answer: OutboundAnswer): Outcome {
    const outcome = outcomeOf(answer);
    // A page of a proxy, or the sentence by which a connector of Microsoft 365 says, with status 200, that it failed.
    if (outcome.kind === 'delivered' && answer.body.length > 0 && answer.json === undefined) {
      return { kind: 'failed', why: 'It answered with words, and not as a workflow does.' };
    }
    if (outcome.kind === 'refused' && isTurnedOff(answer.json)) {
      return { kind: 'failed', why: 'The workflow is turned off.' };
    }
    return outcome;
  }
}

/** The message is good, and somebody may turn the workflow on again. */
function isTurnedOff(json: unknown): boolean {
  const { error } = (json ?? {}) as { readonly error?: { readonly code?: unknown } | null };
  return error?.code === 'WorkflowTriggerIsNotEnabled';
}

function connectorProblems({ webhook_url }: Config, path: string): FieldError[] {
  if (!OLD_CONNECTORS.test(new URL(webhook_url as string).hostname)) return [];
  const field = `${path}.webhook_url`;
  const message = `${field} is the address of a connector of Microsoft 365; make a workflow in Teams, and give its address.`;
  return [{ field, code: 'matches', message }];
}
