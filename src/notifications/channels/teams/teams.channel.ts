import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Message } from '../../notification.js';
import type { Outcome } from '../channel.port.js';
import { HookChannelType, hookSchema } from '../hook-channel-type.js';
import { outcomeOf } from '../http-delivery.js';
import { teamsMessage } from './teams-card.js';

/** Starts the workflow once for each event, which posts the card. */
@Injectable()
export class TeamsChannelType extends HookChannelType {
  readonly name = 'teams';
  readonly description =
    'Microsoft Teams: an Adaptive Card into a channel or chat, by a workflow that takes webhooks.';
  readonly schema = hookSchema(
    'The address of a workflow that starts when a Teams webhook request is received.',
  );

  constructor(http: OutboundHttp) {
    super(http);
  }

  protected bodyOf(message: Message) {
    return teamsMessage(message);
  }

  /** A workflow that takes the message says 202, and says nothing of whether Teams showed it. */
  protected read(answer: OutboundAnswer): Outcome {
    const outcome = outcomeOf(answer);
    if (outcome.kind === 'delivered' && /^text\/html\b/.test(answer.header('content-type') ?? '')) {
      return { kind: 'failed', why: 'It answered with a page, and not as a workflow does.' };
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
