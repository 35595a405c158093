import { shortened } from '../../../incidents/title-text.js';
import type { Severity } from '../../../incidents/incident.js';
import type { AnyEvent } from '../../messages/event-schemas.js';
import type { EventName, Message } from '../../notification.js';
import { LINK_TEXT, shownWords } from '../shown-words.js';
import { alertChanges } from './alert-rules.js';

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
export function pagerDutyEvents(
  message: Message,
  routingKey: string,
): readonly Readonly<Record<string, unknown>>[] {
  return alertChanges(message.payload as unknown as AnyEvent).map(({ action, key }) => {
    const change = { routing_key: routingKey, event_action: action, dedup_key: key };
    return action === 'trigger' ? { ...change, ...contentOf(message) } : change;
  });
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
