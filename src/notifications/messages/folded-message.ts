import { type IncidentState, SEVERITIES, type Severity } from '../../incidents/incident.js';
import type { PresentState } from '../delivery.js';
import type { Fact, Message, Words } from '../notification.js';
import type { ActionData, AnyEvent, EventIncident } from './event-data.js';

/** Incidents that a message lists; it counts the rest. */
const MOST_LISTED = 8;

interface News {
  readonly message: Message;
  readonly incident: EventIncident;
  readonly state?: IncidentState;
}

interface Approval extends ActionData {
  readonly message: Message;
  readonly type: 'action.pending_approval' | 'action.expiring';
}

/**
 * One message for people about several incidents of a source that are new or were judged malicious, or about the approvals that a
 * playbook asks for. It says what is so when it goes out. The worst incident stands first, and the link opens it. Whoever receives the message a second time
 * recognizes it by the event of its carrier.
 *
 * @param messages the carrier first
 * @param alike new incidents of the carrier's group in the last 10 minutes
 */
export function foldedMessage(
  messages: readonly [Message, ...Message[]],
  alike: number,
  present: PresentState,
): Message {
  const carrier = { ...messages[0], ...waveOf(present) };
  const approvals = messages.flatMap(approvalOf);
  if (approvals.length > 0) return approvalMessage(carrier, approvals, present);
  if (carrier.event === 'playbook.step_failed') return withRuns(carrier, messages.length);
  const news = messages.flatMap((message) => newsOf(message, present)).toSorted(worstFirst);
  const [first] = news;
  if (!first) return carrier;
  const message = news.length === 1 ? lateMessage(carrier, first) : listOfNews(carrier, news);
  // A count that the headline already has says nothing, and a smaller one contradicts it.
  const isMore = carrier.event === 'incident.created' && alike > news.length;
  return isMore ? withCount(message, alike) : message;
}

/** Says of an incident that was resolved or deleted while its message waited that it was. */
function lateMessage(carrier: Message, { incident, state }: News): Message {
  const end = endOf(state);
  if (end === undefined || carrier.event !== 'incident.created') return carrier;
  const headline = `New incident, ${end} since: ${incident.incident_number}`;
  return { ...carrier, words: { ...carrier.words, headline } };
}

function listOfNews(carrier: Message, news: readonly News[]): Message {
  const { incident, message } = news[0]!;
  const malicious = news.filter(isMalicious).length;
  const ended = news.filter(({ state }) => endOf(state) !== undefined).length;
  const rest = news.length - MOST_LISTED;
  const isNew = carrier.event === 'incident.created';
  const counts = [
    `${news.length} ${isNew ? 'new incidents' : 'incidents judged malicious'} from ${incident.source}`,
    ...(malicious > 0 && isNew ? [`${malicious} judged malicious`] : []),
    ...(ended > 0 ? [`${ended} resolved since`] : []),
  ];
  return {
    ...carrier,
    severity: highest(news.map((one) => one.incident.severity)),
    words: {
      headline: `${counts.join(', ')}: ${incident.incident_number}`,
      about: incident.title,
      facts: [
        ...news.slice(0, MOST_LISTED).map(lineOf),
        ...(rest > 0 ? [{ name: 'More', value: `${rest} in the list of incidents` }] : []),
      ],
      url: message.words.url,
    },
  };
}

function lineOf({ incident, state }: News): Fact {
  const { severity, title, incident_number: name } = incident;
  const marks = [severity, state?.classification, endOf(state)];
  return { name, value: `${marks.filter(Boolean).join(', ')}: ${title}` };
}

/** Leaves out the approvals that were decided since. Each of the others is decided on its own. */
function approvalMessage(
  carrier: Message,
  all: readonly Approval[],
  { waiting }: PresentState,
): Message {
  const open = all
    .filter(({ action }) => waiting.has(action.id))
    .toSorted((one, other) => rankOf(other.incident?.severity) - rankOf(one.incident?.severity));
  const [first] = open;
  if (!first) return carrier;
  const { message, incident, type } = first;
  if (open.length === 1) {
    return {
      ...carrier,
      severity: message.severity,
      words: withEffect(message.words, waiting.get(first.action.id)),
    };
  }
  const byType = Map.groupBy(open, ({ action }) => action.action_type);
  const types = [...byType].map(([name, some]) => `${some.length} ${name}`).join(', ');
  const by = first.action.requested_by.replace(/^playbook:/, '');
  const lines = [...Map.groupBy(open, (one) => one.incident?.incident_number ?? 'No incident')];
  const rest = lines.slice(MOST_LISTED).flatMap(([, some]) => some).length;
  return {
    ...carrier,
    severity: incident?.severity ?? carrier.severity,
    words: {
      headline: `${open.length} approvals ${type === 'action.expiring' ? 'expire soon' : 'needed'} for ${by}: ${types}`,
      // The title of one incident would pose as that of all.
      about: lines.length === 1 ? incident?.title : undefined,
      facts: [
        ...lines.slice(0, MOST_LISTED).map(([name, some]) => {
          const targets = some.map(({ action }) => {
            const effect = waiting.get(action.id);
            return `${action.action_type} ${action.target}${effect ? ` (${effect})` : ''}`;
          });
          return { name, value: [targets.join(', '), ...about(some[0]!)].join(' - ') };
        }),
        ...(rest > 0 ? [{ name: 'More', value: `${rest} in the list of actions` }] : []),
      ],
      request: requestFor(open),
      url: message.words.url,
    },
  };
}

/** What an approver decides by, after the targets: a long value is cut. */
function about({ incident }: Approval): string[] {
  const words = [incident?.severity, incident?.title].filter((word) => word !== undefined);
  return words.length > 0 ? [words.join(': ')] : [];
}

/** Says what the connector would change, such as the number of mails. */
function withEffect(words: Words, effect: string | undefined): Words {
  if (effect === undefined) return words;
  return { ...words, facts: [{ name: 'Effect', value: effect }, ...words.facts] };
}

function requestFor(approvals: readonly Approval[]): string {
  const levels = new Set(approvals.flatMap(({ action }) => action.approval_level ?? []));
  const [until] = approvals.flatMap(({ action }) => action.expires_at ?? []).toSorted();
  const end = until === undefined ? '' : `, the first until ${until}`;
  return `Each waits for a person of level ${[...levels].join(' or ')} or higher${end}.`;
}

function waveOf({ wave, waiting }: PresentState): Pick<Message, 'wave'> {
  if (!wave) return {};
  const { first, carried } = wave;
  return { wave: { first, isOver: ![first, ...carried].some((id) => waiting.has(id)) } };
}

/** How large the wave is by now, where there is one. */
function withCount(message: Message, alike: number): Message {
  const { facts } = message.words;
  const count = { name: 'Alike', value: `${alike} new incidents in 10 minutes` };
  return { ...message, words: { ...message.words, facts: [...facts, count] } };
}

function withRuns(message: Message, runs: number): Message {
  if (runs < 2) return message;
  const { facts } = message.words;
  const count = { name: 'Failed in', value: `${runs} runs; the attention list has all of them` };
  return { ...message, words: { ...message.words, facts: [...facts, count] } };
}

function newsOf(message: Message, { incidents }: PresentState): News[] {
  const event = message.payload as unknown as AnyEvent;
  if (event.type !== 'incident.created' && event.type !== 'incident.triaged') return [];
  const { incident } = event.data;
  return [{ message, incident, state: incidents.get(incident.id) }];
}

function approvalOf(message: Message): Approval[] {
  const { type, data } = message.payload as unknown as AnyEvent;
  const isApproval = type === 'action.pending_approval' || type === 'action.expiring';
  return isApproval ? [{ ...data, message, type }] : [];
}

function endOf(state: IncidentState | undefined): 'deleted' | 'resolved' | undefined {
  if (state?.deleted_at) return 'deleted';
  return state?.status === 'resolved' ? 'resolved' : undefined;
}

function isMalicious({ state }: News): boolean {
  return state?.classification === 'malicious' && endOf(state) === undefined;
}

function rankOf(severity: Severity | undefined): number {
  return severity ? SEVERITIES.indexOf(severity) : -1;
}

function highest(severities: readonly Severity[]): Severity | undefined {
  return severities.toSorted((one, other) => rankOf(other) - rankOf(one))[0];
}

/** Open before resolved, malicious before unknown, then by severity, then the newest. */
function worstFirst(one: News, other: News): number {
  const ranks = (news: News): number[] => [
    endOf(news.state) === undefined ? 1 : 0,
    isMalicious(news) ? 1 : 0,
    rankOf(news.incident.severity),
    news.message.occurredAt.getTime(),
  ];
  const mine = ranks(one);
  return (
    ranks(other)
      .map((rank, index) => rank - mine[index]!)
      .find((order) => order !== 0) ?? 0
  );
}
