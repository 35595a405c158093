import { readFileSync } from 'node:fs';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Ground truth of an event. The service never sees it. */
export interface Truth {
  readonly malicious: boolean;
  /** Incident types that are correct for the event. */
  readonly types: readonly string[];
  /** True for a newsletter or an ordinary mail. */
  readonly plainMail?: boolean;
  /** The gateway delivered the mail to a mailbox. */
  readonly deliveredMail?: boolean;
  /** The tool reports the event as critical, malicious or confirmed. */
  readonly toolSays?: boolean;
  readonly wave?: boolean;
  /** True for an update that raises the severity of an earlier event. */
  readonly raised?: boolean;
}

export interface ToolEvent {
  readonly kind: Kind;
  readonly item: Json;
  readonly truth: Truth;
}

/** Webhook request of a tool. `truths` has one entry per event, in the order in which the service reads them. */
export interface Post {
  readonly source: string;
  readonly body: Json;
  readonly truths: readonly Truth[];
  /** True if the request is sent directly after the previous request. All other requests are an hour apart. */
  readonly atOnce?: boolean;
}

interface Shape {
  /** Sample body from the vendor's documentation, under test/fixtures/webhooks. */
  readonly sample: string;
  /** JSON pointer to the event in the sample. Default: the whole sample. */
  readonly item?: string;
  /** JSON pointer to the list of events, for tools that send batches. */
  readonly list?: string;
  /** JSON pointers to the ids of the event. */
  readonly ids: readonly string[];
}

const PROOFPOINT = 'presets/proofpoint/siem-all.json';
const GRAPH = 'presets/microsoft_alert/graph-alert-list.json';

/** Kinds of events in the week. Kinds that share a body are in the order in which the service reads their lists. */
const SHAPES = {
  alertmanager: shapeOf('presets/alertmanager/group-of-two.json', ['/fingerprint'], '/alerts'),
  cloudflare: shapeOf('presets/cloudflare/ddos-attack.json', ['/alert_correlation_id']),
  crowdstrike: shapeOf('presets/crowdstrike_epp/alerts-api.json', ['/composite_id'], '/resources'),
  elastic: shapeOf(
    'presets/elastic/summary-of-alerts.json',
    ['/kibana/alert/uuid', '/_id'],
    '/alerts',
  ),
  falco: shapeOf('presets/falco/falcosidekick.json', ['/uuid']),
  codeScanning: shapeOf('presets/github/code-scanning.json', ['/alert/html_url']),
  dependabot: shapeOf('presets/github/dependabot.json', ['/alert/html_url']),
  secretScanning: shapeOf('presets/github/secret-scanning.json', ['/alert/html_url']),
  secops: shapeOf('presets/google_secops/detections.json', ['/id'], '/detections'),
  sshBruteForce: shapeOf('presets/guardduty/ssh-brute-force.json', ['/detail/id']),
  stolenCredentials: shapeOf('presets/guardduty/stolen-credentials.json', ['/detail/id']),
  defenderMail: shapeOf(GRAPH, ['/id', '/evidence/0/internetMessageId'], '/value'),
  defenderUser: shapeOf(GRAPH, ['/id'], '/value', '/value/1'),
  sentinel: shapeOf('presets/microsoft_alert/sentinel-incident.json', ['/object/name']),
  okta: shapeOf('presets/okta/two-events.json', ['/uuid'], '/data/events', '/data/events/1'),
  click: shapeOf(PROOFPOINT, ['/id', '/GUID', '/messageID'], '/clicksPermitted'),
  delivered: shapeOf(PROOFPOINT, ['/GUID', '/id', '/messageID'], '/messagesDelivered'),
  blocked: shapeOf(PROOFPOINT, ['/GUID', '/id', '/messageID'], '/messagesBlocked'),
  securityHub: shapeOf('presets/security_hub/two-findings.json', ['/Id'], '/detail/findings'),
  sentinelone: shapeOf(
    'presets/sentinelone/threats-page.json',
    ['/id', '/threatInfo/threatId'],
    '/data',
  ),
  splunk: shapeOf('presets/splunk_notable/notable-event.json', ['/result/event_id']),
  sublime: shapeOf('presets/sublime/with-the-message.json', [
    '/data/message/id',
    '/data/message/headers/message_id',
  ]),
  suricata: shapeOf('presets/suricata/two-rules-in-one-flow.json', ['/flow_id'], ''),
  wazuh: shapeOf('presets/wazuh/alert.json', ['/id']),
  pagerDuty: shapeOf('presets/pagerduty/triggered.json', ['/event/data/id', '/event/id']),
  datadogSignal: shapeOf('presets/datadog/security-signal.json', ['/security_signal_id']),
  datadogMonitor: shapeOf('presets/datadog/monitor.json', ['/alert_cycle_key']),
  cortex: shapeOf('presets/cortex_xdr/alerts.json', ['/alert_id'], '/reply/alerts'),
  azureLog: shapeOf('presets/azure_monitor/log-search.json', ['/data/essentials/alertId']),
  azureActivity: shapeOf('presets/azure_monitor/activity-log.json', ['/data/essentials/alertId']),
  graylog: shapeOf('presets/graylog/brute-force.json', ['/event/id']),
  mimecastClick: shapeOf('presets/mimecast/url-protect.json', ['/messageId'], '/data/0/clickLogs'),
  mimecastImpersonation: shapeOf(
    'presets/mimecast/impersonation-protect.json',
    ['/id', '/messageId'],
    '/data/0/impersonationLogs',
  ),
  abnormal: shapeOf(
    'presets/abnormal/threat.json',
    ['/abxMessageIdStr', '/internetMessageId'],
    '/messages',
  ),
  grafana: shapeOf('presets/grafana/group-of-two.json', ['/fingerprint'], '/alerts'),
  genericLogin: shapeOf('formats/generic/home-grown-monitor.json', ['/data/alert_id']),
  genericMail: shapeOf('formats/generic/reported-mail.json', [
    '/data/alert_id',
    '/data/details/message_id',
  ]),
  emailAlert: shapeOf('formats/email_alert/mail-message-entity.json', [
    '/id',
    '/data/InternetMessageId',
  ]),
  endpointAlert: shapeOf('formats/endpoint_alert/epp-detection-summary.json', [
    '/event/CompositeId',
  ]),
  logAlert: shapeOf('formats/log_alert/stock-webhook.json', ['/sid']),
  ocsf: shapeOf('formats/ocsf/endpoint-finding.json', ['/finding_info/uid']),
} satisfies Record<string, Shape>;

export type Kind = keyof typeof SHAPES;

function shapeOf(sample: string, ids: readonly string[], list?: string, item?: string): Shape {
  return { sample, ids, ...(list !== undefined && { list, item: item ?? `${list}/0` }) };
}

/** Name of the preset or format, which is also the name of the webhook source. */
export const sourceOf = (sample: string): string => sample.split('/')[1]!;

export const readSample = (sample: string): Json =>
  JSON.parse(readFileSync(`test/fixtures/webhooks/${sample}`, 'utf8')) as Json;

let lastNumber = 4_200;

/** Creates an event from the vendor's sample. The event has new ids, and `changes` are applied by JSON pointer. */
export function createEvent(
  kind: Kind,
  truth: Truth,
  changes: Record<string, Json> = {},
): ToolEvent {
  const { sample, item = '', ids }: Shape = SHAPES[kind];
  const event = valueAt(readSample(sample), item);
  lastNumber += 1;
  for (const pointer of ids)
    setValue(event, pointer, withNumber(valueAt(event, pointer), lastNumber));
  for (const [pointer, value] of Object.entries(changes)) setValue(event, pointer, value);
  return { kind, item: event, truth };
}

/** Creates an update: the same ids with other content. */
export function createUpdate(
  before: ToolEvent,
  changes: Record<string, Json>,
  truth = before.truth,
): ToolEvent {
  const item = structuredClone(before.item);
  for (const [pointer, value] of Object.entries(changes)) setValue(item, pointer, value);
  return { ...before, item, truth };
}

/** Creates one request body from the events, as the tool batches them. */
export function createPost(...events: ToolEvent[]): Post {
  const kinds = Object.keys(SHAPES);
  const ordered = events.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  const shapes = ordered.map(({ kind }): Shape => SHAPES[kind]);
  const { sample, list } = shapes[0]!;
  const truths = ordered.map(({ truth }) => truth);
  if (list === undefined) return { source: sourceOf(sample), body: ordered[0]!.item, truths };
  const body = readSample(sample);
  for (const one of Object.values<Shape>(SHAPES)) {
    if (one.sample === sample) (valueAt(body, one.list!) as Json[]).length = 0;
  }
  ordered.forEach(({ item }, index) => (valueAt(body, shapes[index]!.list!) as Json[]).push(item));
  return { source: sourceOf(sample), body, truths };
}

/** Replaces the last digits of the id, or the part of the id before the @, with the number. */
function withNumber(id: Json, number: number): Json {
  if (typeof id === 'number') return id + number;
  const last = /[0-9a-f]{6}(?=\W*$)|\w+(?=@)|\d+(?!.*\d)/;
  return (id as string).replace(last, (digits) => String(number).padStart(digits.length, '0'));
}

const steps = (pointer: string): string[] => pointer.split('/').slice(1);

function valueAt(value: Json, pointer: string): Json {
  return steps(pointer).reduce((inner, key) => (inner as Record<string, Json>)[key]!, value);
}

function setValue(value: Json, pointer: string, given: Json): void {
  const parent = valueAt(value, pointer.slice(0, pointer.lastIndexOf('/')));
  (parent as Record<string, Json>)[steps(pointer).at(-1)!] = given;
}
