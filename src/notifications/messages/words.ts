import type { Message, EventName, Fact, Words } from '../notification.js';
import { eventPayload, type ToldEvent } from './event-payloads.js';
import { actionType, isActionType, undoneBy } from '../../action-catalogue/action-types.js';
import { type Severity, severityRises } from '../../incidents/incident.js';
import type {
  ActionData,
  AnyEvent,
  EventAction,
  EventIncident,
  IncidentReopenedData,
} from './event-data.js';
import { pageUrl } from './links.js';

/** What a channel gets of an event: the payload for programs, and the words for people. */
export function messageOf(event: EventName, told: ToldEvent): Message {
  const payload = eventPayload(event, told);
  return {
    eventId: told.eventId,
    event,
    occurredAt: told.occurredAt,
    severity: severityOf(payload),
    incidentId: told.incidentId,
    payload: { ...payload },
    words: wordsOf(payload, told.publicUrl),
  };
}

/** Puts an event into words for people, as plain text. What strangers wrote stands in values and titles only. */
export function wordsOf(event: AnyEvent, publicUrl?: string): Words {
  const text = textOf(event);
  // The headline has it already.
  const facts = text.facts.filter(({ value }) => value !== text.about);
  return { ...text, facts, url: linkOf(event, publicUrl) };
}

type Text = Omit<Words, 'url'>;

/** The headline names the step. A path with dots would be defanged like a domain. */
const OWN_PATH = /^steps\.\d+\.(?:parameters\.)?(?<place>\w+)(?:\.\w+)* at character \d+: /;

function textOf(event: AnyEvent): Text {
  switch (event.type) {
    case 'incident.created': {
      const { incident } = event.data;
      return aboutIncident(incident, 'New incident');
    }
    case 'incident.updated': {
      const { incident, updated_by, changed } = event.data;
      const what = changed.length > 0 ? changed.join(', ') : 'its tool reported more';
      return aboutIncident(incident, 'Incident updated', [
        ...fact('Changed', what),
        ...fact('Updated by', updated_by),
      ]);
    }
    case 'incident.severity_changed': {
      const { incident, previous_severity, changed_by, because } = event.data;
      const change = severityRises(previous_severity, incident.severity) ? 'raised' : 'lowered';
      const stays = incident.status === 'resolved' ? ', but it stays resolved' : '';
      const what = `Severity ${change} from ${previous_severity} to ${incident.severity}${stays}`;
      return aboutIncident(incident, what, [
        ...fact('Reported', because),
        ...fact('Changed by', changed_by),
      ]);
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
      const { incident, reopened_by, previous_severity, because } = event.data;
      const raised = previous_severity && severityRises(previous_severity, incident.severity);
      const what = raised
        ? `Reopened and raised from ${previous_severity} to ${incident.severity}`
        : 'Incident reopened';
      return aboutIncident(incident, what, [
        ...fact('Reported', because),
        ...fact('Was resolved', closingInWords(event.data)),
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
      return { ...words, request: 'Triage this incident yourself, or start its triage again.' };
    }
    case 'action.pending_approval':
      return aboutApproval(event.data, 'Approval needed');
    case 'action.expiring':
      return aboutApproval(event.data, 'Approval expires soon');
    case 'action.completed':
      return aboutAction(
        event.data,
        event.data.action.simulated ? 'Simulated' : 'Action completed',
      );
    case 'action.failed': {
      const simulated = event.data.action.simulated ? 'Simulated: ' : '';
      const words = aboutAction(event.data, `${simulated}Action failed`);
      return { ...words, request: nextStepAfter(event.data.action) };
    }
    case 'action.rejected':
      return aboutAction(event.data, 'Action rejected');
    case 'playbook.step_failed': {
      const { run, step, message, incident } = event.data;
      const where = incident ? ` for ${incident.incident_number}` : '';
      return {
        headline: `Playbook step failed: ${step} of ${run.playbook}${where}`,
        about: incident?.title,
        facts: [
          ...fact('Why', message.replace(OWN_PATH, '$<place>: ')),
          ...fact('Incident', incident?.title),
          ...fact('Severity', incident?.severity),
          ...fact('Version', String(run.playbook_version)),
          ...fact('Run', run.id),
        ],
        request:
          'Do by hand what the step was for, and correct the playbook if it is wrong. If the step fails again within 6 hours, only the attention list says so.',
      };
    }
    case 'kill_switch.activated':
      return {
        headline: 'The kill switch is on',
        about: event.data.reason,
        facts: [...fact('Turned on by', event.data.by), ...fact('Reason', event.data.reason)],
        request: 'No action runs until somebody turns it off.',
      };
    case 'kill_switch.deactivated':
      return {
        headline: 'The kill switch is off',
        about: event.data.reason,
        facts: [...fact('Turned off by', event.data.by), ...fact('Reason', event.data.reason)],
      };
    case 'connector.unhealthy': {
      const { connector, message } = event.data;
      return {
        headline: `Connector ${connector.name} does not work`,
        about: message,
        facts: [...fact('Message', message), ...fact('Type', connector.type)],
        request:
          'Its actions fail until it works again. An admin can correct its configuration and test it.',
      };
    }
    case 'connector.recovered': {
      const { connector, unhealthy_since, message } = event.data;
      return {
        headline: `Connector ${connector.name} works again`,
        about: message,
        facts: [
          ...fact('Message', message),
          ...fact('Unhealthy since', unhealthy_since),
          ...fact('Type', connector.type),
        ],
      };
    }
    case 'webhook_event.failed': {
      const { webhook_event, message } = event.data;
      return {
        headline: `Webhook event failed: ${webhook_event.source}`,
        about: message,
        facts: [...fact('Why', message), ...fact('Event', webhook_event.id)],
        request:
          'It made no incident. Read it, correct the source, and replay it. Further failures of the source are not told until it has none for 15 minutes.',
      };
    }
    case 'notification_channel.unhealthy': {
      const { channel, message, failing_since } = event.data;
      return {
        headline: `Notification channel ${channel.name} does not work`,
        about: message,
        facts: [
          ...fact('Message', message),
          ...fact('Failing since', failing_since),
          ...fact('Type', channel.type),
        ],
        request: 'Its messages do not arrive. An admin can correct its configuration and test it.',
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
    about: incident.title,
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
  const target = isDoneToTarget(action) ? action.target : undefined;
  return {
    headline: `${what}: ${action.action_type}${rollback}${where}`,
    about: target ?? incident?.title,
    facts: [
      ...fact('Target', target),
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

/** Who had resolved the incident, when and how; undefined where nobody knows. */
function closingInWords(data: IncidentReopenedData): string | undefined {
  const { resolved_by: by, resolved_at: at, resolution } = data;
  if (!by && !at) return undefined;
  const who = [by && `by ${by}`, at && `at ${at}`].filter(Boolean).join(' ');
  return resolution ? `${who}: ${resolution}` : who;
}

function aboutApproval(data: ActionData, what: string): Text {
  const { approval_level, level_reason, expires_at } = data.action;
  const because = level_reason ? `, because ${level_reason}` : '';
  const until = expires_at ? `, until ${expires_at}` : '';
  const request = `It waits for approval at level ${approval_level} or higher${because}${until}.`;
  return { ...aboutAction(data, what), request };
}

/** The title of a ticket and the name of a channel are no targets: they repeat the incident, or say where a message went. */
function isDoneToTarget({ action_type }: EventAction): boolean {
  const category = isActionType(action_type) ? actionType(action_type).category : undefined;
  return category !== 'ticketing' && category !== 'notification';
}

/** What people do after an action that failed. */
function nextStepAfter({ code, action_type }: EventAction): string {
  switch (code) {
    case 'outcome_unknown':
    case 'timeout':
      return 'Check at the vendor whether it happened. If it did not, request the action again.';
    case 'no_connector':
      return `No connector provides ${action_type}. An admin can set one up; until then, do it by hand.`;
    case 'unreachable':
    case 'interrupted':
      return 'Nothing was done. Request the action again, or do it by hand.';
    case 'refused':
    case undefined:
      return 'Read the message, correct what is wrong, and request the action again, or do it by hand.';
  }
}

/** Where people can look at it, and do what is asked of them. */
function linkOf({ type, data }: AnyEvent, publicUrl: string | undefined): string | undefined {
  if (type === 'incident.deleted' || type === 'notification.test') return undefined;
  if ('action' in data) return pageUrl(publicUrl, 'action', data.action.id);
  if ('incident' in data) return pageUrl(publicUrl, 'incident', data.incident?.id);
  if ('connector' in data) return pageUrl(publicUrl, 'connector', data.connector.id);
  if ('webhook_event' in data) return pageUrl(publicUrl, 'webhook_event', data.webhook_event.id);
  if ('channel' in data) return pageUrl(publicUrl, 'notification_channel', data.channel.id);
  return pageUrl(publicUrl);
}

/** No line without a value. */
function fact(name: string, value: string | undefined): Fact[] {
  return value ? [{ name, value }] : [];
}
