import { JsonObject } from '../../platform/validation/fields.js';
import { defineEvent } from './define-event.js';
import * as t from './event-data.js';

const KILL_SWITCH = t.data('KillSwitchData', 'A change of the kill switch.', {
  by: t.text('Person who turned the kill switch on or off.'),
  reason: t.text('Reason of the change.'),
  discarded: t.maybe(t.field<object>(JsonObject, 'Numbers of discarded pieces of work, if any.')),
});

const target = (name: string, id: string, kind: 'connector' | 'notification_channel') =>
  t.nested(
    t.data(name, `A ${kind.replace('_', ' ')}, as shown in an event.`, {
      ...{ id: t.subjectId(id), name: t.text(), type: t.text() },
      url: t.apiUrl(kind),
    }),
  );
const connector = target('EventConnector', 'ConnectorId', 'connector');
const channel = target('EventChannel', 'NotificationChannelId', 'notification_channel');

const unhealthy_since = t.instant('Time of the event that reported the failure.');

export const SYSTEM_EVENT_TYPES = {
  'kill_switch.activated': defineEvent({
    description: 'The kill switch was turned on.',
    data: KILL_SWITCH,
    forPeople: true,
    severity: 'critical',
    words: ({ by, reason }) => ({
      headline: 'The kill switch is on',
      about: reason,
      facts: { 'Turned on by': by },
      request: 'No action runs until a person turns the kill switch off.',
    }),
    alerts: () => ({ trigger: 'kill_switch' }),
  }),

  'kill_switch.deactivated': defineEvent({
    description: 'The kill switch was turned off.',
    data: KILL_SWITCH,
    forPeople: true,
    words: ({ by, reason }) => ({
      headline: 'The kill switch is off',
      about: reason,
      facts: { 'Turned off by': by },
    }),
    alerts: () => ({ resolve: 'kill_switch' }),
  }),

  'connector.unhealthy': defineEvent({
    description: 'A connector stopped answering.',
    data: t.data('ConnectorUnhealthyData', 'A connector that does not answer, and the reason.', {
      connector,
      message: t.text('Result of the check.'),
    }),
    forPeople: true,
    words: (data) => ({
      headline: `Connector ${data.connector.name} does not work`,
      about: data.message,
      facts: { Type: data.connector.type },
      request:
        'Its actions fail until it works again. An admin can correct its configuration and test it.',
    }),
    alerts: (data) => ({ trigger: `connector:${data.connector.id}` }),
  }),

  'connector.recovered': defineEvent({
    description: 'A connector that was reported as unhealthy works again.',
    data: t.data('ConnectorRecoveredData', 'A connector that works again.', {
      connector,
      unhealthy_since,
      message: t.text('Result of the check.'),
    }),
    forPeople: true,
    words: (data) => ({
      headline: `Connector ${data.connector.name} works again`,
      about: data.message,
      facts: { 'Unhealthy since': data.unhealthy_since, Type: data.connector.type },
    }),
    alerts: (data) => ({ resolve: `connector:${data.connector.id}` }),
  }),

  'webhook_event.failed': defineEvent({
    description: 'A webhook event failed, the first of its source in 15 minutes.',
    data: t.data('WebhookEventFailedData', 'A failed webhook event, and the reason.', {
      webhook_event: t.nested(
        t.data('EventWebhookEvent', 'A webhook event, as shown in a notification.', {
          id: t.subjectId('WebhookEventId'),
          source: t.text(),
          url: t.apiUrl('webhook_event'),
        }),
      ),
      message: t.renamed('error', 'Reason of the failure.'),
    }),
    words: ({ webhook_event: { id, source }, message }) => ({
      headline: `Webhook event failed: ${source}`,
      about: message,
      facts: { Event: id },
      request:
        'The event created no incident. Read it, correct the source, and replay the event. Further failures are reported only after 15 minutes without a failure of the source.',
    }),
    alerts: (data) => ({ trigger: `webhook_failed:${data.webhook_event.source}` }),
  }),

  'notification_channel.unhealthy': defineEvent({
    description: 'A channel has failed for ten minutes. All other channels receive this.',
    data: t.data('ChannelUnhealthyData', 'A channel that has failed for ten minutes.', {
      channel,
      failing_since: t.instant('Time of the first failure.'),
      message: t.text('Reason of the last failure.'),
    }),
    words: ({ channel: about, message, failing_since }) => ({
      headline: `Notification channel ${about.name} does not work`,
      about: message,
      facts: { 'Failing since': failing_since, Type: about.type },
      request: 'Its messages do not arrive. An admin can correct its configuration and test it.',
    }),
    alerts: (data) => ({ trigger: `notification_channel:${data.channel.id}` }),
  }),

  'notification_channel.recovered': defineEvent({
    description: 'An unhealthy channel works again. All other channels receive this.',
    data: t.data('ChannelRecoveredData', 'A channel that works again.', {
      channel,
      unhealthy_since,
    }),
    words: ({ channel: about, unhealthy_since: since }) => ({
      headline: `Notification channel ${about.name} works again`,
      facts: { 'Unhealthy since': since, Type: about.type },
    }),
    alerts: (data) => ({ resolve: `notification_channel:${data.channel.id}` }),
  }),

  'notification.test': defineEvent({
    description: 'An admin requested a test message.',
    data: t.data('NotificationTestData', 'Text of a test message.', {
      message: t.text('Says that the message is a test.'),
    }),
    severity: 'low',
    hasNoPage: true,
    words: ({ message }) => ({ headline: message, facts: {} }),
    alerts: (_, eventId) => ({ trigger: `test:${eventId}` }),
  }),
};
