import { undoneBy } from '../../action-catalogue/action-types.js';
import { type Severity, severityRises } from '../../incidents/incident.js';
import type { Fact, Words } from '../notification.js';
import type { ActionData, EventIncident } from './event-data.js';
import type { AnyEvent } from './event-schemas.js';
import { pageUrl } from './links.js';

/** An event in the words of people, as plain text. What strangers wrote stands in values alone, and in titles. */
export function wordsOf(event: AnyEvent, publicUrl?: string): Words {
  return { ...textOf(event), url: linkOf(event, publicUrl) };
}

type Text = Omit<Words, 'url'>;

function textOf(event: AnyEvent): Text {
  switch (event.type) {
    case 'incident.created': {
      const { incident } = event.data;
      return aboutIncident(incident, 'New incident');
    }
    case 'incident.severity_changed': {
      const { incident, previous_severity, changed_by } = event.data;
      const change = severityRises(previous_severity, incident.severity) ? 'raised' : 'lowered';
      const what = `Severity ${change} from ${previous_severity} to ${incident.severity}`;
      return aboutIncident(incident, what, fact('Changed by', changed_by));
    }
    case 'incident.triaged': {
      const { incident, verdict, triaged_by, recommended_actions } = event.data;
      const found = verdict ? `triaged as ${verdict.classification}` : 'triaged';
      return aboutIncident(incident, `Incident ${found}`, [
        ...fact('Category', verdict?.category),
        ...fact('Confidence', verdict?.confidence?.toFixed(2)),
        ...fact('Triaged by', triaged_by),
        ...fact('Recommended', recommended_actions.join(', ')),
      ]);
    }
    case 'incident.resolved': {
      const { incident, resolved_by, resolution } = event.data;
      const facts = [...fact('Resolved by', resolved_by), ...fact('Resolution', resolution)];
      return aboutIncident(incident, 'Incident resolved', facts);
    }
    case 'incident.reopened': {
      const { incident, reopened_by } = event.data;
      return aboutIncident(incident, 'Incident reopened', [
        ...fact('Status', incident.status),
        ...fact('Reopened by', reopened_by),
      ]);
    }
    case 'incident.deleted': {
      const { incident, deleted_by } = event.data;
      return aboutIncident(incident, 'Incident deleted', fact('Deleted by', deleted_by));
    }
    case 'triage.failed': {
      const { incident, message } = event.data;
      const words = aboutIncident(incident, 'Triage failed', fact('Why', message));
      return { ...words, request: 'A person has to triage this incident.' };
    }
    case 'action.pending_approval': {
      const { approval_level, expires_at } = event.data.action;
      const until = expires_at ? `, until ${expires_at}` : '';
      const request = `It waits for approval at level ${approval_level} or higher${until}.`;
      return { ...aboutAction(event.data, 'Approval needed'), request };
    }
    case 'action.completed':
      return aboutAction(event.data, 'Action completed');
    case 'action.failed':
      return aboutAction(event.data, 'Action failed');
    case 'action.rejected':
      return aboutAction(event.data, 'Action rejected');
    case 'kill_switch.activated':
      return {
        headline: 'The kill switch is on',
        facts: [...fact('Turned on by', event.data.by), ...fact('Reason', event.data.reason)],
        request: 'No action runs until somebody turns it off.',
      };
    case 'kill_switch.deactivated':
      return {
        headline: 'The kill switch is off',
        facts: [...fact('Turned off by', event.data.by), ...fact('Reason', event.data.reason)],
      };
    case 'connector.unhealthy': {
      const { connector, message } = event.data;
      return {
        headline: `Connector ${connector.name} does not work`,
        facts: [...fact('Message', message), ...fact('Type', connector.type)],
        request: 'Actions that it provides fail until it works again.',
      };
    }
    case 'connector.recovered': {
      const { connector, unhealthy_since, message } = event.data;
      return {
        headline: `Connector ${connector.name} works again`,
        facts: [
          ...fact('Message', message),
          ...fact('Unhealthy since', unhealthy_since),
          ...fact('Type', connector.type),
        ],
      };
    }
    case 'notification_channel.unhealthy': {
      const { channel, message, failing_since } = event.data;
      return {
        headline: `Notification channel ${channel.name} does not work`,
        facts: [
          ...fact('Message', message),
          ...fact('Failing since', failing_since),
          ...fact('Type', channel.type),
        ],
        request: 'What happens does not reach the people behind it. An admin can mend it.',
      };
    }
    case 'notification_channel.recovered': {
      const { channel, unhealthy_since } = event.data;
      return {
        headline: `Notification channel ${channel.name} works again`,
        facts: [...fact('Unhealthy since', unhealthy_since), ...fact('Type', channel.type)],
      };
    }
    case 'notification.test':
      return { headline: event.data.message, facts: [] };
  }
}

/** Of what the event is about; undefined where no incident is. */
export function severityOf(event: AnyEvent): Severity | undefined {
  return 'incident' in event.data ? event.data.incident?.severity : undefined;
}

function aboutIncident(incident: EventIncident, what: string, more: readonly Fact[] = []): Text {
  return {
    headline: `${what}: ${incident.incident_number}`,
    facts: [
      ...fact('Title', incident.title),
      ...fact('Severity', incident.severity),
      ...fact('Type', incident.incident_type),
      ...fact('Source', incident.source),
      ...more,
    ],
  };
}

function aboutAction({ action, incident }: ActionData, what: string): Text {
  const { rollback_of } = action;
  const undone = undoneBy(action.action_type) ?? 'an action';
  const rollback = rollback_of === undefined ? '' : ` (rollback of ${undone})`;
  const where = incident ? ` for ${incident.incident_number}` : '';
  return {
    headline: `${what}: ${action.action_type}${rollback}${where}`,
    facts: [
      ...fact('Target', action.target),
      ...fact('Reason', action.reason),
      ...fact('Incident', incident?.title),
      ...fact('Severity', incident?.severity),
      ...fact('Requested by', action.requested_by),
      ...fact('Approved by', action.approved_by),
      ...fact('Rejected by', action.rejected_by),
      ...fact('Approval level', action.approval_level),
      ...fact('Message', action.message),
      ...fact('Simulated', action.simulated && 'yes: nothing happened outside'),
      ...fact('Action', action.id),
      ...fact('Rollback of', rollback_of),
    ],
  };
}

/** Where people can look at it, and do what is asked of them. */
function linkOf({ type, data }: AnyEvent, publicUrl: string | undefined): string | undefined {
  if (type === 'incident.deleted' || type === 'notification.test') return undefined;
  if ('action' in data) return pageUrl(publicUrl, 'action', data.action.id);
  if ('incident' in data) return pageUrl(publicUrl, 'incident', data.incident.id);
  if ('connector' in data) return pageUrl(publicUrl, 'connector', data.connector.id);
  if ('channel' in data) return pageUrl(publicUrl, 'notification_channel', data.channel.id);
  return pageUrl(publicUrl);
}

/** No line without a value. */
function fact(name: string, value: string | undefined): Fact[] {
  return value ? [{ name, value }] : [];
}
