import type { Severity } from '../../incidents/incident.js';
import type { Fact, Words } from '../notification.js';
import type { ActionData, EventIncident } from './event-data.js';
import type { AnyEvent } from './event-schemas.js';

/** An event in the words of people, as plain text. What strangers wrote stands in values alone, and in titles. */
export function wordsOf(event: AnyEvent): Words {
  switch (event.type) {
    case 'incident.created': {
      const { incident } = event.data;
      return aboutIncident(incident, 'New incident');
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
    case 'triage.failed': {
      const { incident, message } = event.data;
      const words = aboutIncident(incident, 'Triage failed', fact('Why', message));
      return { ...words, request: 'A person has to triage this incident.' };
    }
    case 'action.pending_approval': {
      const { approval_level } = event.data.action;
      const words = aboutAction(event.data, 'Approval needed');
      return { ...words, request: `It waits for approval at level ${approval_level} or higher.` };
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
        facts: [...fact('Type', connector.type), ...fact('Message', message)],
        request: 'Actions that it provides fail until it works again.',
        url: connector.url,
      };
    }
    case 'connector.recovered': {
      const { connector, unhealthy_since, message } = event.data;
      return {
        headline: `Connector ${connector.name} works again`,
        facts: [
          ...fact('Type', connector.type),
          ...fact('Unhealthy since', unhealthy_since),
          ...fact('Message', message),
        ],
        url: connector.url,
      };
    }
    case 'notification_channel.unhealthy': {
      const { channel, message, failing_since } = event.data;
      return {
        headline: `Notification channel ${channel.name} does not work`,
        facts: [
          ...fact('Type', channel.type),
          ...fact('Failing since', failing_since),
          ...fact('Message', message),
        ],
        request: 'What happens does not reach the people behind it.',
        url: channel.url,
      };
    }
    case 'notification_channel.recovered': {
      const { channel, unhealthy_since } = event.data;
      return {
        headline: `Notification channel ${channel.name} works again`,
        facts: [...fact('Type', channel.type), ...fact('Unhealthy since', unhealthy_since)],
        url: channel.url,
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

function aboutIncident(incident: EventIncident, what: string, more: readonly Fact[] = []): Words {
  return {
    headline: `${what}: ${incident.incident_number}`,
    facts: [
      ...fact('Title', incident.title),
      ...fact('Severity', incident.severity),
      ...fact('Type', incident.incident_type),
      ...fact('Source', incident.source),
      ...more,
    ],
    url: incident.url,
  };
}

function aboutAction({ action, incident }: ActionData, what: string): Words {
  return {
    headline: `${what}: ${action.action_type}${incident ? ` for ${incident.incident_number}` : ''}`,
    facts: [
      ...fact('Target', action.target),
      ...fact('Severity', incident?.severity),
      ...fact('Requested by', action.requested_by),
      ...fact('Approval level', action.approval_level),
      ...fact('Message', action.message),
      ...fact('Simulated', action.simulated && 'yes: nothing happened outside'),
      ...fact('Action', action.id),
    ],
    url: action.url,
  };
}

/** No line without a value. */
function fact(name: string, value: string | undefined): Fact[] {
  return value ? [{ name, value }] : [];
}
