import { type IncidentState, SEVERITIES } from '../../incidents/incident.js';
import type { Message } from '../notification.js';
import type { ActionData } from './action.events.js';
import type { Words } from './define-event.js';
import type { EventIncident } from './incident.events.js';

/** Current state of incidents and actions, which may be newer than the events of the message. */
export interface PresentState {
  readonly incidents: ReadonlyMap<string, IncidentState>;
  /** Actions that wait for approval, with the text of their preview if there is one. */
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
  readonly effect?: string;
}

/** Combines similar messages, the worst incident first. Receivers recognize a copy by the first event id. */
export function foldedMessage(
  messages: readonly [Message, ...Message[]],
  present: PresentState,
): Message {
  const [carrier] = messages;
  const sorted = messages.toSorted(bySeverity);
  const [approval, ...approvals] = sorted.flatMap((one) => approvalIn(one, present));
  if (approval) return approvalMessage(carrier, [approval, ...approvals]);
  const incidents = sorted.flatMap((one) => incidentIn(one, present)).toSorted(worstFirst);
  const [first, ...others] = incidents;
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
  const facts = sorted.map(({ incident: one, classification, end }): [string, string] => {
    const marks = [one.severity, classification, end].filter(Boolean);
    return [one.incident_number, `${marks.join(', ')}: ${one.title}`];
  });
  const headline = `${counts.join(', ')}: ${incident.incident_number}`;
  const [{ severity }] = sorted.map((one) => one.message).toSorted(bySeverity) as [Message];
  return {
    ...carrier,
    severity,
    words: { headline, about: incident.title, facts: listed(facts), url: message.words.url },
  };
}

function listed(facts: readonly [name: string, value: string][]): Words['facts'] {
  const more = `${facts.length - MAX_LISTED} in the list of incidents`;
  return {
    ...Object.fromEntries(facts.slice(0, MAX_LISTED)),
    ...(facts.length > MAX_LISTED && { More: more }),
  };
}

function approvalMessage(carrier: Message, open: readonly [Approval, ...Approval[]]): Message {
  const [{ message, incident, action, effect }] = open;
  if (open.length === 1) {
    const facts = { Effect: effect, ...message.words.facts };
    return { ...carrier, severity: message.severity, words: { ...message.words, facts } };
  }
  const byType = Map.groupBy(open, (one) => one.action.action_type);
  const types = [...byType].map(([name, some]) => `${some.length} ${name}`).join(', ');
  const by = action.requested_by.replace(/^playbook:/, '');
  const what = carrier.event.type === 'action.expiring' ? 'expire soon' : 'needed';
  const lines = [...Map.groupBy(open, (one) => one.incident?.incident_number ?? 'No incident')];
  const facts = lines.map(([name, some]): [string, string] => {
    const targets = some.map(({ action: { action_type, target }, effect }) =>
      [action_type, target, ...(effect ? [`(${effect})`] : [])].join(' '),
    );
    const about = [some[0]!.incident?.severity, some[0]!.incident?.title].filter(Boolean);
    // The incident comes last, because the end of a long value is cut off.
    return [name, [targets.join(', '), about.join(': ')].filter(Boolean).join(' - ')];
  });
  const words = {
    headline: `${open.length} approvals ${what} for ${by}: ${types}`,
    // Approvals of several incidents have no common title.
    about: lines.length === 1 ? incident?.title : undefined,
    ...{ facts: listed(facts), request: requestFor(open), url: message.words.url },
  };
  return { ...carrier, severity: message.severity ?? carrier.severity, words };
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

/** Returns nothing if the approval was decided in the meantime. */
function approvalIn(message: Message, { waiting }: PresentState): Approval[] {
  const { type, data } = message.event;
  if (type !== 'action.pending_approval' && type !== 'action.expiring') return [];
  const { id } = data.action;
  return waiting.has(id) ? [{ ...data, message, effect: waiting.get(id) }] : [];
}

const isMalicious = ({ classification, end }: JudgedIncident): boolean =>
  classification === 'malicious' && !end;

const rankOf = ({ severity }: Message): number => (severity ? SEVERITIES.indexOf(severity) : -1);
const bySeverity = (one: Message, other: Message): number => rankOf(other) - rankOf(one);

function worstFirst(one: JudgedIncident, other: JudgedIncident): number {
  return (
    Number(Boolean(one.end)) - Number(Boolean(other.end)) ||
    Number(isMalicious(other)) - Number(isMalicious(one)) ||
    bySeverity(one.message, other.message) ||
    Date.parse(other.message.event.timestamp) - Date.parse(one.message.event.timestamp)
  );
}
