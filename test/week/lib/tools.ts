import { readFileSync } from 'node:fs';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What an event truly is, whatever the service makes of it. */
export interface Truth {
  readonly malicious: boolean;
  /** The types of incident that fit. */
  readonly types: readonly string[];
  /** A newsletter, or a mail that a person wrote for no bad end. */
  readonly plainMail?: boolean;
  /** It lies in a mailbox. */
  readonly deliveredMail?: boolean;
  /** The tool itself calls it critical, malicious or confirmed. */
  readonly toolSays?: boolean;
  readonly wave?: boolean;
  /** It says that an earlier event is worse than it seemed. */
  readonly raised?: boolean;
}

export interface ToolEvent {
  readonly kind: Kind;
  readonly item: Json;
  readonly truth: Truth;
}

/** One request of a tool, with the truth about each of its events in the order in which they are read. */
export interface Post {
  readonly source: string;
  readonly body: Json;
  readonly truths: readonly Truth[];
  /** It comes with the one before, and not hours later. */
  readonly atOnce?: boolean;
}

interface Shape {
  /** A sample of the vendor's documentation, under test/fixtures/webhooks. */
  readonly sample: string;
  /** Where in it the event is; the whole of it unless told. */
  readonly item?: string;
  /** Where the body has its events, when it has several. */
  readonly list?: string;
  /** What no two events share. */
  readonly ids: readonly string[];
}

const PROOFPOINT = 'presets/proofpoint/siem-all.json';
const GRAPH = 'presets/microsoft_alert/graph-alert-list.json';

/** The kinds of events that the week is made of. Those of one tool that come in one body stand in the order of its lists. */
const SHAPES = {
  alertmanager: shape('presets/alertmanager/group-of-two.json', ['/fingerprint'], '/alerts'),
  cloudflare: shape('presets/cloudflare/ddos-attack.json', ['/alert_correlation_id']),
  crowdstrike: shape('presets/crowdstrike_epp/alerts-api.json', ['/composite_id'], '/resources'),
  elastic: shape(
    'presets/elastic/summary-of-alerts.json',
    ['/kibana/alert/uuid', '/_id'],
    '/alerts',
  ),
  falco: shape('presets/falco/falcosidekick.json', ['/uuid']),
  codeScanning: shape('presets/github/code-scanning.json', ['/alert/html_url']),
  dependabot: shape('presets/github/dependabot.json', ['/alert/html_url']),
  secretScanning: shape('presets/github/secret-scanning.json', ['/alert/html_url']),
  secops: shape('presets/google_secops/detections.json', ['/id'], '/detections'),
  sshBruteForce: shape('presets/guardduty/ssh-brute-force.json', ['/detail/id']),
  stolenCredentials: shape('presets/guardduty/stolen-credentials.json', ['/detail/id']),
  defenderMail: shape(GRAPH, ['/id', '/evidence/0/internetMessageId'], '/value'),
  defenderUser: shape(GRAPH, ['/id'], '/value', '/value/1'),
  sentinel: shape('presets/microsoft_alert/sentinel-incident.json', ['/object/name']),
  okta: shape('presets/okta/two-events.json', ['/uuid'], '/data/events', '/data/events/1'),
  click: shape(PROOFPOINT, ['/id', '/GUID', '/messageID'], '/clicksPermitted'),
  delivered: shape(PROOFPOINT, ['/GUID', '/id', '/messageID'], '/messagesDelivered'),
  blocked: shape(PROOFPOINT, ['/GUID', '/id', '/messageID'], '/messagesBlocked'),
  securityHub: shape('presets/security_hub/two-findings.json', ['/Id'], '/detail/findings'),
  sentinelone: shape(
    'presets/sentinelone/threats-page.json',
    ['/id', '/threatInfo/threatId'],
    '/data',
  ),
  splunk: shape('presets/splunk_notable/notable-event.json', ['/result/event_id']),
  sublime: shape('presets/sublime/with-the-message.json', [
    '/data/message/id',
    '/data/message/headers/message_id',
  ]),
  suricata: shape('presets/suricata/two-rules-in-one-flow.json', ['/flow_id'], ''),
  wazuh: shape('presets/wazuh/alert.json', ['/id']),
  genericLogin: shape('formats/generic/home-grown-monitor.json', ['/data/alert_id']),
  genericMail: shape('formats/generic/reported-mail.json', [
    '/data/alert_id',
    '/data/details/message_id',
  ]),
  emailAlert: shape('formats/email_alert/mail-message-entity.json', [
    '/id',
    '/data/InternetMessageId',
  ]),
  endpointAlert: shape('formats/endpoint_alert/epp-detection-summary.json', ['/event/CompositeId']),
  logAlert: shape('formats/log_alert/stock-webhook.json', ['/sid']),
  ocsf: shape('formats/ocsf/endpoint-finding.json', ['/finding_info/uid']),
} satisfies Record<string, Shape>;

export type Kind = keyof typeof SHAPES;

function shape(sample: string, ids: readonly string[], list?: string, item?: string): Shape {
  return { sample, ids, ...(list !== undefined && { list, item: item ?? `${list}/0` }) };
}

/** A preset or a format, which is the name of its source in the week, too. */
export const sourceOf = (sample: string): string => sample.split('/')[1]!;

export const readSample = (sample: string): Json =>
  JSON.parse(readFileSync(`test/fixtures/webhooks/${sample}`, 'utf8')) as Json;

let counted = 4_200;

/** The vendor's sample with an id of its own, and with these values at these pointers. */
export function event(kind: Kind, truth: Truth, changes: Record<string, Json> = {}): ToolEvent {
  const { sample, item = '', ids }: Shape = SHAPES[kind];
  const event = at(readSample(sample), item);
  counted += 1;
  for (const pointer of ids) put(event, pointer, numbered(at(event, pointer), counted));
  for (const [pointer, value] of Object.entries(changes)) put(event, pointer, value);
  return { kind, item: event, truth };
}

/** The same event of its tool with other content. */
export function updated(
  before: ToolEvent,
  changes: Record<string, Json>,
  truth = before.truth,
): ToolEvent {
  const item = structuredClone(before.item);
  for (const [pointer, value] of Object.entries(changes)) put(item, pointer, value);
  return { ...before, item, truth };
}

/** The events in one body, as the tool batches them. */
export function post(...events: ToolEvent[]): Post {
  const kinds = Object.keys(SHAPES);
  const ordered = events.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  const shapes = ordered.map(({ kind }): Shape => SHAPES[kind]);
  const { sample, list } = shapes[0]!;
  const truths = ordered.map(({ truth }) => truth);
  if (list === undefined) return { source: sourceOf(sample), body: ordered[0]!.item, truths };
  const body = readSample(sample);
  for (const one of Object.values<Shape>(SHAPES)) {
    if (one.sample === sample) (at(body, one.list!) as Json[]).length = 0;
  }
  ordered.forEach(({ item }, index) => (at(body, shapes[index]!.list!) as Json[]).push(item));
  return { source: sourceOf(sample), body, truths };
}

/** An id of the same look: its last digits are the number, or those before the @. */
function numbered(id: Json, number: number): Json {
  if (typeof id === 'number') return id + number;
  const last = /[0-9a-f]{6}(?=\W*$)|\w+(?=@)|\d+(?!.*\d)/;
  return (id as string).replace(last, (digits) => String(number).padStart(digits.length, '0'));
}

const steps = (pointer: string): string[] => pointer.split('/').slice(1);

function at(value: Json, pointer: string): Json {
  return steps(pointer).reduce((inner, key) => (inner as Record<string, Json>)[key]!, value);
}

function put(value: Json, pointer: string, given: Json): void {
  const parent = at(value, pointer.slice(0, pointer.lastIndexOf('/')));
  (parent as Record<string, Json>)[steps(pointer).at(-1)!] = given;
}
