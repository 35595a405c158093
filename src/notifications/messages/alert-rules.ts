import { severityRises } from '../../incidents/incident.js';
import type { ActionData, AnyEvent } from './event-data.js';
import type { Message } from '../notification.js';

type AlertAction = 'trigger' | 'acknowledge' | 'resolve';

interface AlertChange {
  readonly action: AlertAction;
  /** Events with the same key are about the same alert. */
  readonly key: string;
}

/**
 * Changes of alerts that an event makes, in this order. Incidents, approvals, failed actions, the kill switch, connectors and
 * channels have separate alerts: an approval pages people also if they have acknowledged the incident. The service acknowledges
 * an alert only for what a person did, because PagerDuty pages nobody for an acknowledged alert.
 */
export function alertChanges(event: AnyEvent, wave?: Message['wave']): readonly AlertChange[] {
  switch (event.type) {
    case 'incident.updated':
      // A change that has to page people is another event.
      return [];
    case 'incident.created':
    case 'incident.reopened':
      return change('trigger', `incident:${event.data.incident.id}`);
    case 'triage.failed':
      return ofOpenIncident(event, 'trigger');
    case 'incident.severity_changed': {
      const { incident, previous_severity } = event.data;
      // A lowered severity is the change of a person. `trigger` would reopen an alert that somebody resolved in PagerDuty.
      const isRaised = severityRises(previous_severity, incident.severity);
      return ofOpenIncident(event, isRaised ? 'trigger' : 'acknowledge');
    }
    case 'incident.triaged': {
      const isByPerson = event.data.verdict?.decided_by !== 'system';
      return ofOpenIncident(event, isByPerson ? 'acknowledge' : 'trigger');
    }
    case 'incident.resolved':
    case 'incident.deleted':
      return change('resolve', `incident:${event.data.incident.id}`);
    case 'action.pending_approval':
    case 'action.expiring':
      return change('trigger', approvalKey(event.data, wave));
    case 'action.completed':
    case 'action.rejected':
      return endOfApproval(event.data, wave);
    case 'action.failed': {
      const { id, approval_level } = event.data.action;
      // Whoever acknowledged the approval would not be paged again by its alert, so a failure has a separate one.
      const failure = change('trigger', `action_failed:${id}`);
      return approval_level === undefined
        ? failure
        : [...failure, ...endOfApproval(event.data, wave)];
    }
    case 'playbook.step_failed':
      return change('trigger', `step_failed:${event.data.run.id}:${event.data.step}`);
    case 'kill_switch.activated':
      return change('trigger', 'kill_switch');
    case 'kill_switch.deactivated':
      return change('resolve', 'kill_switch');
    case 'connector.unhealthy':
      return change('trigger', `connector:${event.data.connector.id}`);
    case 'connector.recovered':
      return change('resolve', `connector:${event.data.connector.id}`);
    case 'webhook_event.failed':
      return change('trigger', `webhook_failed:${event.data.webhook_event.source}`);
    case 'notification_channel.unhealthy':
      return change('trigger', `notification_channel:${event.data.channel.id}`);
    case 'notification_channel.recovered':
      return change('resolve', `notification_channel:${event.data.channel.id}`);
    case 'notification.test':
      return change('trigger', `test:${event.id}`);
  }
}

function change(action: AlertAction, key: string): AlertChange[] {
  return [{ action, key }];
}

/** A resolved incident pages nobody: no later event would close its alert. */
function ofOpenIncident(
  { data: { incident } }: Extract<AnyEvent, { data: { incident: { status?: string } } }>,
  action: AlertAction,
): AlertChange[] {
  return incident.status === 'resolved' ? [] : change(action, `incident:${incident.id}`);
}

/** Approvals that one message asks for share an alert, which has the key of the first of them. */
function approvalKey({ action }: ActionData, wave: Message['wave']): string {
  return `action:${wave?.first ?? action.id}`;
}

/** The alert stays open while one of its approvals waits. */
function endOfApproval(data: ActionData, wave: Message['wave']): AlertChange[] {
  return wave?.isOver === false ? [] : change('resolve', approvalKey(data, wave));
}
