import { SEVERITIES, type Severity } from '../../incidents/incident.js';
import type { Message } from '../notification.js';
import type { ActionData, EventIncident } from './event-data.js';
import type { AnyEvent } from './event-schemas.js';

/** Incidents that a message lists; it counts the rest. */
const MOST_LISTED = 8;

interface Told {
  readonly message: Message;
  readonly incident: EventIncident;
}

/**
 * One message for people about several new incidents of a source, or approvals that one playbook asks for. It lists the most severe ones first, and of these the newest,
 * which its link opens. To whoever has seen the first message it is the same event, whatever it has in it.
 *
 * @param messages the carrier first
 * @param alike new incidents of the carrier's group in the last 10 minutes
 */
export function foldedMessage(messages: readonly [Message, ...Message[]], alike: number): Message {
  const [carrier] = messages;
  const approvals = messages.flatMap(approvalOf);
  if (approvals.length > 0)
    return approvals.length === 1 ? carrier : foldedApprovals(carrier, approvals);
  if (messages.length === 1) return withCount(carrier, alike);
  const told = messages.flatMap(toldOf).toSorted(bySeverityAndAge);
  const [first] = told;
  if (!first) return carrier;
  const { incident } = first;
  const rest = told.length - MOST_LISTED;
  const listed = told.slice(0, MOST_LISTED).map(({ incident: one }) => {
    return { name: one.incident_number, value: `${one.severity}: ${one.title}` };
  });
  const more = rest > 0 ? [{ name: 'More', value: `${rest} in the list of incidents` }] : [];
  return withCount(
    {
      ...carrier,
      severity: incident.severity,
      words: {
        headline: `${told.length} new incidents from ${incident.source}: ${incident.incident_number}`,
        about: incident.title,
        facts: [...listed, ...more],
        url: first.message.words.url,
      },
    },
    alike,
  );
}

/** The link opens the first of them; each is decided on its own. */
function foldedApprovals(carrier: Message, approvals: readonly Approval[]): Message {
  const told = approvals.toSorted(
    (one, other) => severityRank(other.incident?.severity) - severityRank(one.incident?.severity),
  );
  const [{ message, action, incident, type }] = told as [Approval, ...Approval[]];
  const what = type === 'action.expiring' ? 'approvals expire soon' : 'approvals needed';
  const listed = told.slice(0, MOST_LISTED).map(({ action: one, incident: its }) => {
    return { name: its?.incident_number ?? 'No incident', value: one.target };
  });
  const rest = told.length - MOST_LISTED;
  const more = rest > 0 ? [{ name: 'More', value: `${rest} in the list of actions` }] : [];
  return {
    ...carrier,
    severity: incident?.severity ?? carrier.severity,
    words: {
      headline: `${told.length} ${what}: ${action.action_type} for ${action.requested_by}`,
      about: incident?.title,
      facts: [...listed, ...more],
      request: message.words.request,
      url: message.words.url,
    },
  };
}

/** How large the wave is by now, where there is one. */
function withCount(message: Message, alike: number): Message {
  if (alike < 2) return message;
  const { facts } = message.words;
  const count = { name: 'Alike', value: `${alike} new incidents in 10 minutes` };
  return { ...message, words: { ...message.words, facts: [...facts, count] } };
}

function toldOf(message: Message): Told[] {
  const event = message.payload as unknown as AnyEvent;
  return event.type === 'incident.created' ? [{ message, incident: event.data.incident }] : [];
}

interface Approval extends ActionData {
  readonly message: Message;
  readonly type: 'action.pending_approval' | 'action.expiring';
}

function approvalOf(message: Message): Approval[] {
  const { type, data } = message.payload as unknown as AnyEvent;
  const isApproval = type === 'action.pending_approval' || type === 'action.expiring';
  return isApproval ? [{ ...data, message, type }] : [];
}

const severityRank = (severity: Severity | undefined): number =>
  severity ? SEVERITIES.indexOf(severity) : -1;

function bySeverityAndAge(one: Told, other: Told): number {
  const rank = ({ incident }: Told) => severityRank(incident.severity);
  return (
    rank(other) - rank(one) || other.message.occurredAt.getTime() - one.message.occurredAt.getTime()
  );
}
