import type { Severity } from '../../incidents/incident.js';
import { shortened } from '../../incidents/raw-data-text.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { address, fields, text } from '../../targets/target-config.js';
import { defineChannel, outcomeOf, postJson } from '../channel-type.js';
import type { Outcome } from '../delivery.js';
import {
  alertsOf,
  EVENT_TYPES,
  EVENTS_FOR_PEOPLE,
  LINK_TEXT,
  type Message,
  shownWords,
} from '../notification.js';

const PRODUCT = 'Incident Triage Service';
const MAX_SUMMARY = 1_024;

const SEVERITIES: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
};

export const pagerDuty = defineChannel({
  name: 'pagerduty',
  audience: 'pager',
  description:
    'PagerDuty: alerts by the Events API v2, acknowledged and resolved together with the incident.',
  config: fields({
    routing_key: text('Integration key of an Events API v2 integration: 32 letters and digits.', {
      pattern: '^[A-Za-z0-9]{32}$',
      maxLength: 32,
      writeOnly: true,
    }),
    base_url: address('In the EU https://events.eu.pagerduty.com.', {
      default: 'https://events.pagerduty.com',
    }),
  }),
  /** Includes events that only resolve alerts. */
  defaultEvents: [
    ...EVENTS_FOR_PEOPLE,
    'incident.resolved',
    'incident.deleted',
    'action.completed',
    'action.rejected',
  ],
  async send({ config: { routing_key, base_url }, message, signal, http }) {
    const url = `${base_url.replace(/\/+$/, '')}/v2/enqueue`;
    let outcome: Outcome = { kind: 'delivered' };
    for (const [event_action, dedup_key] of Object.entries(alertsOf(message))) {
      if (outcome.kind !== 'delivered') break;
      const change = { routing_key, event_action, dedup_key };
      const body = event_action === 'trigger' ? { ...change, ...contentOf(message) } : change;
      outcome = await postJson({ http, url, body, signal }, readAnswer);
    }
    return outcome;
  },
});

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
function contentOf(message: Message): object {
  const { severity, event } = message;
  const { headline, facts, request, url } = shownWords(message);
  return {
    payload: {
      summary: shortened(headline, MAX_SUMMARY),
      source: PRODUCT,
      severity: SEVERITIES[severity ?? EVENT_TYPES[event.type].severity ?? 'medium'],
      timestamp: event.timestamp,
      class: event.type,
      custom_details: {
        ...Object.fromEntries(facts.map(({ name, value }) => [name, value])),
        ...(request && { 'To do': request }),
      },
    },
    client: PRODUCT,
    ...(url && { client_url: url, links: [{ href: url, text: LINK_TEXT }] }),
  };
}

/** https://developer.pagerduty.com/docs/events-api-v2/overview/#response-codes--retry-logic */
function readAnswer(answer: OutboundAnswer): Outcome {
  const outcome = outcomeOf(answer);
  if (outcome.kind === 'delivered' && answer.status !== 202) {
    return { kind: 'failed', why: 'The response is not a response of PagerDuty.' };
  }
  // The event itself is valid, so the delivery is retried: an administrator may set another key.
  if (outcome.kind === 'refused' && /routing[ _]key/i.test(answer.text)) {
    return { kind: 'failed', why: 'PagerDuty does not accept the routing key.' };
  }
  return outcome;
}
