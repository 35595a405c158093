import { type IncidentState, SEVERITIES, type Severity } from '../../incidents/incident.js';
import type { Message } from '../notification.js';
import type { ActionData } from './action.events.js';
import type { Words } from './define-event.js';
import type { EventIncident } from './incident.events.js';

/** Current state, which may be newer than the events of the message. */
export interface PresentState {
  readonly incidents: ReadonlyMap<string, IncidentState>;
  readonly waiting: ReadonlyMap<string, string | undefined>;
}

const MAX_LISTED = 8;

interface JudgedIncident {
  readonly message: Message;
  readonly incident: EventIncident;
  readonly classification?: IncidentState['classification'];
  readonly end?: 'deleted' | 'resolved';
}

interface Approval extends ActionData {
  readonly message: Message;
}

/**
 * Combines new incidents of a source, incidents with a new malicious verdict, or approvals that a playbook requests. The worst
 * incident comes first. The first message is the carrier: receivers recognize a copy by its event id.
 */
export function foldedMessage(
  messages: readonly [Message, ...Message[]],
  present: PresentState,
): Message {
  const [carrier] = messages;
  const approvals = messages.flatMap(approvalIn);
  if (approvals.length > 0) return approvalMessage(carrier, approvals, present.waiting);
  const incidents = messages.flatMap((message) => incidentIn(message, present));
  const [first, ...others] = incidents.toSorted(worstFirst);
  if (!first) return carrier;
  if (others.length > 0) return listOfIncidents(carrier, [first, ...others]);
  if (carrier.event.type !== 'incident.created' || !first.end) return carrier;
  const headline = `New incident, ${first.end} since: ${first.incident.incident_number}`;
  return { ...carrier, words: { ...carrier.words, headline } };
}

function listOfIncidents(
  carrier: Message,
  sorted: readonly [JudgedIncident, ...JudgedIncident[]],
): Message {
  const { incident, message } = sorted[0];
  const malicious = sorted.filter(isMalicious).length;
  const ended = sorted.filter(({ end }) => end).length;
  const isNew = carrier.event.type === 'incident.created';
  const counts = [
    `${sorted.length} ${isNew ? 'new incidents' : 'incidents judged malicious'} from ${incident.source}`,
    ...(malicious > 0 && isNew ? [`${malicious} judged malicious`] : []),
    ...(ended > 0 ? [`${ended} resolved since`] : []),
  ];
  const facts = sorted.map(({ incident: one, classification, end }) => {
    const marks = [one.severity, classification, end].filter(Boolean);
    return { name: one.incident_number, value: `${marks.join(', ')}: ${one.title}` };
  });
  const headline = `${counts.join(', ')}: ${incident.incident_number}`;
  const words = { headline, about: incident.title, facts, url: message.words.url };
  const severities = sorted.map((one) => one.incident.severity).toSorted(bySeverity);
  return listMessage(carrier, severities[0], words);
}

/** Shortens the list of facts. */
function listMessage(
  carrier: Message,
  severity: Severity | undefined,
  { facts, ...words }: Words,
): Message {
  const more = { name: 'More', value: `${facts.length - MAX_LISTED} in the list of incidents` };
  const shown = [...facts.slice(0, MAX_LISTED), ...(facts.length > MAX_LISTED ? [more] : [])];
  return { ...carrier, severity, words: { ...words, facts: shown } };
}

/** Omits approvals that were decided in the meantime. */
function approvalMessage(
  carrier: Message,
  all: readonly Approval[],
  waiting: PresentState['waiting'],
): Message {
  const open = all
    .filter(({ action }) => waiting.has(action.id))
    .toSorted((one, other) => bySeverity(one.incident?.severity, other.incident?.severity));
  const [first] = open;
  if (!first) return carrier;
  const { message, incident, action } = first;
  if (open.length === 1) {
    const effect = waiting.get(action.id);
    const effects = effect === undefined ? [] : [{ name: 'Effect', value: effect }];
    const facts = [...effects, ...message.words.facts];
    return { ...carrier, severity: message.severity, words: { ...message.words, facts } };
  }
  const byType = Map.groupBy(open, (one) => one.action.action_type);
  const types = [...byType].map(([name, some]) => `${some.length} ${name}`).join(', ');
  const by = action.requested_by.replace(/^playbook:/, '');
  const what = carrier.event.type === 'action.expiring' ? 'expire soon' : 'needed';
  const lines = [...Map.groupBy(open, (one) => one.incident?.incident_number ?? 'No incident')];
  const facts = lines.map(([name, some]) => {
    const targets = some.map(({ action: { id, action_type, target } }) => {
      const effect = waiting.get(id);
      return `${action_type} ${target}${effect ? ` (${effect})` : ''}`;
    });
    const about = [some[0]!.incident?.severity, some[0]!.incident?.title].filter(Boolean);
    // The incident comes last, because long values are cut.
    return { name, value: [targets.join(', '), about.join(': ')].filter(Boolean).join(' - ') };
  });
  const words = {
    headline: `${open.length} approvals ${what} for ${by}: ${types}`,
    // Approvals of several incidents have no common title.
    about: lines.length === 1 ? incident?.title : undefined,
    ...{ facts, request: requestFor(open), url: message.words.url },
  };
  return listMessage(carrier, incident?.severity ?? carrier.severity, words);
}

function requestFor(approvals: readonly Approval[]): string {
  const levels = new Set(approvals.flatMap(({ action }) => action.approval_level ?? []));
  const [until] = approvals.flatMap(({ action }) => action.expires_at ?? []).toSorted();
  const end = until === undefined ? '' : `, the first until ${until}`;
  return `Each waits for a person of level ${[...levels].join(' or ')} or higher${end}.`;
}

function incidentIn(message: Message, { incidents }: PresentState): JudgedIncident[] {
  const { type, data } = message.event;
  if (type !== 'incident.created' && type !== 'incident.triaged') return [];
  const { incident } = data;
  const { classification, deleted_at, status } = incidents.get(incident.id) ?? {};
  const end = deleted_at ? 'deleted' : status === 'resolved' ? status : undefined;
  return [{ message, incident, classification, end }];
}

function approvalIn(message: Message): Approval[] {
  const { type, data } = message.event;
  const isApproval = type === 'action.pending_approval' || type === 'action.expiring';
  return isApproval ? [{ ...data, message }] : [];
}

const isMalicious = ({ classification, end }: JudgedIncident): boolean =>
  classification === 'malicious' && !end;

const RANKS: readonly (Severity | undefined)[] = SEVERITIES;
const bySeverity = (one: Severity | undefined, other: Severity | undefined): number =>
  RANKS.indexOf(other) - RANKS.indexOf(one);

/** Sorts incidents: open before resolved or deleted, then malicious before others, then by severity, newest first. */
function worstFirst(one: JudgedIncident, other: JudgedIncident): number {
  return (
    Number(Boolean(one.end)) - Number(Boolean(other.end)) ||
    Number(isMalicious(other)) - Number(isMalicious(one)) ||
    bySeverity(one.incident.severity, other.incident.severity) ||
    Date.parse(other.message.event.timestamp) - Date.parse(one.message.event.timestamp)
  );
}
