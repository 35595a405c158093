import { Injectable } from '@nestjs/common';
import type { Config } from '../../../connectors/config/config-schema.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import { EVENTS_FOR_PEOPLE, type Message, type NotifiedEvent } from '../../notification.js';
import { type Channel, ChannelType, type Outcome } from '../channel.port.js';
import { outcomeOf, postJson } from '../http-delivery.js';
import {
  PAGERDUTY_BASE_URL,
  PAGERDUTY_CHANNEL_SCHEMA,
  type PagerDutyChannelConfig,
} from './pagerduty-config.js';
import { pagerDutyEvents } from './pagerduty-event.js';

/** Opens, acknowledges and resolves alerts. Its keys make an event that comes twice the same as one that comes once. */
class PagerDutyChannel implements Channel {
  private readonly url: URL;

  constructor(
    private readonly config: PagerDutyChannelConfig,
    private readonly http: OutboundHttp,
  ) {
    const { base_url: base = PAGERDUTY_BASE_URL } = config;
    this.url = new URL(`${base.replace(/\/+$/, '')}/v2/enqueue`);
  }

  async deliver(message: Message, signal: AbortSignal): Promise<Outcome> {
    let outcome: Outcome = { kind: 'delivered' };
    for (const event of pagerDutyEvents(message, this.config.routing_key)) {
      if (outcome.kind !== 'delivered') break;
      const body = JSON.stringify(event);
      outcome = await postJson(this.http, { url: this.url, body, signal }, readAnswer);
    }
    return outcome;
  }
}

/** https://developer.pagerduty.com/docs/events-api-v2/overview/#response-codes--retry-logic */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  if (outcome.kind === 'delivered' && answer.status !== 202) {
    return { kind: 'failed', why: 'It did not answer as PagerDuty does.' };
  }
  // The event is good, and somebody may give the key of another integration.
  if (outcome.kind === 'refused' && /routing[ _]key/i.test(answer.text)) {
    return { kind: 'failed', why: 'PagerDuty does not accept the routing key.' };
  }
  return outcome;
}

@Injectable()
export class PagerDutyChannelType extends ChannelType {
  readonly name = 'pagerduty';
  readonly description =
    'PagerDuty: alerts by the Events API v2, which are acknowledged and resolved as the incident is.';
  readonly destinations = [{ address: 'base_url' }];
  readonly schema = PAGERDUTY_CHANNEL_SCHEMA;
  /** With the events that resolve alerts, which would stay open without them. */
  override readonly defaultEvents: readonly NotifiedEvent[] = [
    ...EVENTS_FOR_PEOPLE,
    'incident.resolved',
    'incident.deleted',
    'action.completed',
    'action.rejected',
  ];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  connect(config: Config): Channel {
    return new PagerDutyChannel(config as unknown as PagerDutyChannelConfig, this.http);
  }
}
