import { Injectable } from '@nestjs/common';
import type { Config } from '../../../connectors/config/config-schema.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import type { Message } from '../../notification.js';
import { type Channel, ChannelType, type Outcome } from '../channel.port.js';
import { httpsProblems, outcomeOf, postJson } from '../http-delivery.js';
import { teamsMessage } from './teams-card.js';
import { TEAMS_CHANNEL_SCHEMA, type TeamsChannelConfig } from './teams-config.js';

/** Starts the workflow once for each event, which posts the card. */
class TeamsChannel implements Channel {
  constructor(
    private readonly url: URL,
    private readonly http: OutboundHttp,
  ) {}

  async deliver(message: Message, signal: AbortSignal): Promise<Outcome> {
    const body = JSON.stringify(teamsMessage(message));
    return await postJson(this.http, { url: this.url, body, signal }, readAnswer);
  }
}

/** A workflow that takes the message says 202, and says nothing of whether Teams showed it. */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  if (outcome.kind === 'delivered' && /^text\/html\b/.test(answer.header('content-type') ?? '')) {
    return { kind: 'failed', why: 'It answered with a page, and not as a workflow does.' };
  }
  if (outcome.kind === 'refused' && isTurnedOff(answer.json)) {
    return { kind: 'failed', why: 'The workflow is turned off.' };
  }
  return outcome;
}

/** The message is good, and somebody may turn the workflow on again. */
function isTurnedOff(json: unknown): boolean {
  const { error } = (json ?? {}) as { readonly error?: { readonly code?: unknown } | null };
  return error?.code === 'WorkflowTriggerIsNotEnabled';
}

@Injectable()
export class TeamsChannelType extends ChannelType {
  readonly name = 'teams';
  readonly description =
    'Microsoft Teams: an Adaptive Card into a channel or chat, by a workflow that takes webhooks.';
  /** The address is the secret. */
  readonly destinations = [];
  readonly schema = TEAMS_CHANNEL_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override problems(config: Config, path: string): FieldError[] {
    const { webhook_url } = config as unknown as TeamsChannelConfig;
    return httpsProblems(webhook_url, `${path}.webhook_url`);
  }

  connect(config: Config): Channel {
    const { webhook_url } = config as unknown as TeamsChannelConfig;
    return new TeamsChannel(new URL(webhook_url), this.http);
  }
}
