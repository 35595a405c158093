import { severityRises } from '../../../incidents/incident.js';
import type { AnyEvent } from '../../messages/event-schemas.js';

/** What becomes of an alert. */
export type AlertAction = 'trigger' | 'acknowledge' | 'resolve';

export interface AlertChange {
  readonly action: AlertAction;
  /** Events with the same key are about the same alert. */
  readonly key: string;
}

/** What an event does to which alerts, in this order. */
export function alertChanges(event: AnyEvent): readonly AlertChange[] {
  // What calls people has an event of its own.
  if (event.type === 'incident.updated' || isAfterTheEnd(event)) return [];
  const change = alertChange(event);
  // Whoever acknowledged the approval would not be called again by its alert, so a failure has one of its own.
  if (event.type !== 'action.failed' || event.data.action.approval_level === undefined) {
    return [change];
  }
  return [change, { action: 'resolve', key: `action:${event.data.action.id}` }];
}

/** Nobody is called for what becomes of a resolved incident: no later event would close the alert again. */
function isAfterTheEnd({ type, data }: AnyEvent): boolean {
  return (
    (type === 'incident.severity_changed' ||
      type === 'incident.triaged' ||
      type === 'triage.failed') &&
    data.incident.status === 'resolved'
  );
}

/**
 * An incident, an approval, an action that failed, the kill switch, a connector and a channel have one alert each: an approval pages
 * people also when they have acknowledged the incident. Nothing that the service does by itself acknowledges an alert, because that
 * would keep PagerDuty from calling people.
 */
function alertChange(event: Exclude<AnyEvent, { type: 'incident.updated' }>): AlertChange {
  switch (event.type) {
    case 'incident.created':
    case 'incident.reopened':
    case 'triage.failed':
      return { action: 'trigger', key: `incident:${event.data.incident.id}` };
    case 'incident.severity_changed': {
      const { incident, previous_severity } = event.data;
      // Only people lower it. Not `trigger`: that would open an alert again which somebody resolved in PagerDuty.
      const isRaised = severityRises(previous_severity, incident.severity);
      return { action: isRaised ? 'trigger' : 'acknowledge', key: `incident:${incident.id}` };
    }
    case 'incident.triaged': {
      const { incident, verdict } = event.data;
      const byPerson = verdict?.decided_by !== 'system';
      return { action: byPerson ? 'acknowledge' : 'trigger', key: `incident:${incident.id}` };
    }
    case 'incident.resolved':
    case 'incident.deleted':
      return { action: 'resolve', key: `incident:${event.data.incident.id}` };
    case 'action.pending_approval':
    case 'action.expiring':
      return { action: 'trigger', key: `action:${event.data.action.id}` };
    case 'action.failed':
      return { action: 'trigger', key: `action_failed:${event.data.action.id}` };
    case 'playbook.step_failed':
      return { action: 'trigger', key: `step_failed:${event.data.run.id}:${event.data.step}` };
    case 'action.completed':
    case 'action.rejected':
      return { action: 'resolve', key: `action:${event.data.action.id}` };
    case 'kill_switch.activated':
      return { action: 'trigger', key: 'kill_switch' };
    case 'kill_switch.deactivated':
      return { action: 'resolve', key: 'kill_switch' };
    case 'connector.unhealthy':
      return { action: 'trigger', key: `connector:${event.data.connector.id}` };
    case 'connector.recovered':
      return { action: 'resolve', key: `connector:${event.data.connector.id}` };
    case 'notification_channel.unhealthy':
      return { action: 'trigger', key: `notification_channel:${event.data.channel.id}` };
    case 'notification_channel.recovered':
      return { action: 'resolve', key: `notification_channel:${event.data.channel.id}` };
    case 'notification.test':
      return { action: 'trigger', key: `test:${event.id}` };
  }
}
