import { shortened } from '../../../incidents/raw-data-text.js';
import type { Severity } from '../../../incidents/incident.js';
import type { AnyEvent } from '../../messages/event-data.js';
import {
  type EventName,
  type Message,
  EVENTS_FOR_PEOPLE,
  type NotifiedEvent,
} from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';
import { alertChanges } from './alert-rules.js';
import { address, type Config, fields } from '../../../targets/target-config.js';
import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../../platform/net/outbound-request.js';
import { type Channel, ChannelType, type Outcome } from '../channel.port.js';
import { outcomeOf, postJson } from '../http-delivery.js';

/** Where PagerDuty says that alerts come from. */
const PRODUCT = 'Incident Triage Service';
const LONGEST_SUMMARY = 1_024;

type AlertSeverity = 'critical' | 'error' | 'warning' | 'info';
const SEVERITIES: Readonly<Record<Severity, AlertSeverity>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
};
/** Of what is about no incident. */
const OTHER_SEVERITIES: Partial<Readonly<Record<EventName, AlertSeverity>>> = {
  'kill_switch.activated': 'critical',
  'notification.test': 'info',
};

/**
 * An event as the Events API v2 takes it: one request for each alert that it changes. PagerDuty shows texts as they are, and makes
 * links of addresses: there are none.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 */
function pagerDutyEvents(
  message: Message,
  routingKey: string,
): readonly Readonly<Record<string, unknown>>[] {
  return alertChanges(message.payload as unknown as AnyEvent, message.wave).map(
    ({ action, key }) => {
      const change = { routing_key: routingKey, event_action: action, dedup_key: key };
      return action === 'trigger' ? { ...change, ...contentOf(message) } : change;
    },
  );
}

function contentOf(message: Message): object {
  const { severity, event, occurredAt } = message;
  const { headline, facts, request, url } = shownWords(message);
  return {
    payload: {
      summary: shortened(headline, LONGEST_SUMMARY),
      source: PRODUCT,
      severity: severity ? SEVERITIES[severity] : (OTHER_SEVERITIES[event] ?? 'warning'),
      timestamp: occurredAt.toISOString(),
      class: event,
      custom_details: Object.fromEntries([
        ...facts.map(({ name, value }) => [name, value]),
        ...(request === undefined ? [] : [['To do', request]]),
      ]) as unknown,
    },
    client: PRODUCT,
    ...(url === undefined ? {} : { client_url: url, links: [{ href: url, text: LINK_TEXT }] }),
  };
}

interface PagerDutyChannelConfig {
  readonly routing_key: string;
  readonly base_url?: string;
}

const PAGERDUTY_BASE_URL = 'https://events.pagerduty.com';

export const PAGERDUTY_CHANNEL_SCHEMA = fields(
  {
    routing_key: {
      type: 'string',
      pattern: '^[A-Za-z0-9]{32}$',
      maxLength: 32,
      writeOnly: true,
      description: 'The integration key of an Events API v2 integration: 32 letters and digits.',
    },
    base_url: address('In the EU https://events.eu.pagerduty.com.', {
      minLength: 8,
      default: PAGERDUTY_BASE_URL,
    }),
  },
  ['routing_key'],
);

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
  readonly config = PAGERDUTY_CHANNEL_SCHEMA;
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
