import { fieldsBeside, type IncidentFields } from '../../incidents/incident-fields.js';
import { addressesIn, type Effort, ipIn } from './addresses-in-text.js';
import { type RawText, rawTexts, type RawValue } from './raw-values.js';

export const INDICATOR_TYPES = [
  'url',
  'domain',
  'ip',
  'email',
  'hash',
  'file',
  'host',
  'user',
] as const;
export type IndicatorType = (typeof INDICATOR_TYPES)[number];

export interface ExtractedIndicator {
  /** Id such as `i3`, valid only in the run. */
  readonly id: string;
  readonly type: IndicatorType;
  readonly value: string;
  /** JSON pointers into raw_data, or into the well-known fields if the pointer begins with `fields`. */
  readonly pointers: readonly string[];
}

type Spotted = Pick<ExtractedIndicator, 'type' | 'value'>;

const MOST_INDICATORS = 200;
/** Maximum indicators from one text, so that a mail full of addresses does not hide the other fields. */
const MOST_OF_ONE_TEXT = 60;
const MOST_POINTERS = 10;
const MOST_WORDS = 20_000;
const TEXTS_OF_A_PIECE = 100;
/** Maximum length of a text that is read first. Longer texts follow, because attackers may have filled them. */
const LONGEST_FIELD = 1_000;

type FieldType = IndicatorType | 'address' | 'none';

const FIELD_TYPES: readonly (readonly [FieldType, names: string])[] = [
  ['address', 'domain url ip'],
  ...(['host', 'user', 'file'] as const).map((name) => [name, name] as const),
  ['none', 'message_id event_id account link'],
];

/** Extracts indicators in pieces that the caller can interrupt, because many texts take tens of milliseconds. */
export function* indicatorsInPieces(
  rawData: Readonly<Record<string, unknown>>,
  fields: IncidentFields = {},
): Generator<void, readonly ExtractedIndicator[]> {
  const found = new Map<string, Spotted & { readonly pointers: Set<string> }>();
  const effort: Effort = { words: MOST_WORDS };
  const types = new Map(
    FIELD_TYPES.flatMap(([type, names]) =>
      names.split(' ').map((name) => [fields[name]?.trim(), type] as const),
    ),
  );
  const ofRawData = rawTexts(rawData);
  yield;
  const ofFields = rawTexts(fieldsBeside(rawData, fields)).map((text) => {
    return { ...text, pointer: `fields${text.pointer}` };
  });
  const texts = withoutPlumbing([...ofRawData, ...ofFields]);
  const isLong = ({ value }: RawText): boolean => value.length > LONGEST_FIELD;
  const inOrder = texts.toSorted((a, b) => Number(isLong(a)) - Number(isLong(b)));
  for (const [at, text] of inOrder.entries()) {
    if (at % TEXTS_OF_A_PIECE === 0) yield;
    let left = Math.min(MOST_OF_ONE_TEXT, MOST_INDICATORS - found.size);
    for (const spotted of indicatorsIn(text, types.get(text.value.trim()), effort)) {
      if (!spotted) {
        yield;
        continue;
      }
      const key = `${spotted.type} ${spotted.value}`;
      const pointers = found.get(key)?.pointers;
      if (pointers && pointers.size < MOST_POINTERS) pointers.add(text.pointer);
      if (pointers || left === 0) continue;
      found.set(key, { ...spotted, pointers: new Set([text.pointer]) });
      left -= 1;
    }
  }
  return [...found.values()].map(({ pointers, ...spotted }, index) => {
    return { id: `i${index + 1}`, ...spotted, pointers: [...pointers] };
  });
}

function* indicatorsIn(
  text: RawText,
  fieldType: FieldType | undefined,
  effort: Effort,
): Generator<Spotted | undefined> {
  if (fieldType === 'none') return;
  const type = fieldType === 'address' ? undefined : (fieldType ?? namedType(text));
  const named = type && namedValue(type, text.value);
  if (named) yield named;
  // The name of a host, user or file often looks like a domain, so it is not searched for addresses.
  if (type && !/:\/\/|@/.test(text.value)) return;
  yield* addressesIn(text.value, effort);
}

const NAMES: ReadonlyMap<string, IndicatorType> = new Map(
  Object.entries({
    host:
      'host hostname hostnames computer computername device devicename machine machinename endpoint endpointname workstation ' +
      'workstationname server servername agenthostname sourcehost destinationhost',
    user:
      'user username users account accountname samaccountname login loginname userprincipalname upn actor targetuser targetusername ' +
      'sourceuser userid useremail initiatinguser',
    file:
      'file filename filenames filepath files process processname processpath executable image imagepath attachment attachments ' +
      'attachmentname attachmentnames targetfilename parentprocess parentimage',
  }).flatMap(([type, names]) => names.split(' ').map((name) => [name, type as IndicatorType])),
);

const INNER = new Set(['name', 'value', 'fullname', 'alternateid', 'path']);

function namedType({ name, owner }: RawValue): IndicatorType | undefined {
  const inner = INNER.has(name) ? NAMES.get(owner) : undefined;
  return NAMES.get(name) ?? inner ?? (/user(?:name)?$/.test(name) ? 'user' : undefined);
}

const NOTHING = new Set(' - * unknown n/a na none null undefined true false'.split(' '));
const HOST = /^[\p{L}\p{N}_.$-]{1,255}$/u;
const ONE_LINE = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

function namedValue(type: IndicatorType, text: string): Spotted | undefined {
  const value = text.trim();
  if (NOTHING.has(value.toLowerCase())) return undefined;
  if (type === 'host') {
    if (!isHostName(value)) return undefined;
    return ipIn(value) ?? (HOST.test(value) ? { type, value: value.toLowerCase() } : undefined);
  }
  if (!ONE_LINE.test(value)) return undefined;
  // A value with a number or a link is an account or tenant, not the name of a person.
  if (type === 'user' && (value.includes('://') || NUMBERED.test(value))) return undefined;
  if (type === 'file' && (isBodyPart(value) || SYSTEM_PROGRAM.test(value))) return undefined;
  return { type, value: type === 'user' ? value.toLowerCase() : value };
}

const parentOf = ({ pointer }: RawText): string => pointer.slice(0, pointer.lastIndexOf('/'));

/** Removes texts in which a tool describes itself, and body parts of a mail together with their digests. */
function withoutPlumbing(texts: readonly RawText[]): readonly RawText[] {
  const bodyParts = new Set(texts.filter(({ value }) => isBodyPart(value)).map(parentOf));
  bodyParts.delete('');
  return texts.filter((text) => {
    const isPlumbing =
      isConsoleLink(text.name) ||
      DOCUMENTATION.test(`${text.owner} ${text.name}`) ||
      isToolId(text) ||
      isKind(text);
    return !isPlumbing && !bodyParts.has(parentOf(text));
  });
}

const CONSOLE_LINK =
  /^(?:threaturl|falconhostlink|(?:alert|incident|case|event|finding|detection)(?:web)?(?:url|link)|(?:results|dashboard|console|portal|details?|alertdetails|runbook|silence|generator|panel|external|perma|html|deep|self|abxportal|xdr|help|docs?|documentation|remediation|recommendation|advisory|learnmore|support)(?:url|uri|link)|linkto\w+(?:ui|api)|dashboard|console|permalink|self)$/;

/** True if a key contains a link to the console of the tool. Such a link is not part of the mail or event. */
export const isConsoleLink = (name: string): boolean => CONSOLE_LINK.test(name);

const TOOL_ID =
  /(?:id|ids|idstring|guid|uuid|arn|etag|fingerprint|dthash|accounttag|cursor|nonce|(?:incident|alert|event|dedup|deduplication|aggregation|group|routing|integration|correlation|partition)key)$/;
/** Keys whose values are ids in some tools and addresses in other tools. */
const PERSON_ID = /(?:user|mail|login|sender|recipient|principal|account|alternate)id$/;
const HOST_WITH_ID = /^[\w.-]{1,64}:[0-9a-f]{32}$/;

function isToolId({ name, value }: RawText): boolean {
  if (name === 'hosts' && HOST_WITH_ID.test(value)) return true;
  const isAddress = PERSON_ID.test(name) && /^[^\s@<]+@[^\s@]+$/.test(value);
  return TOOL_ID.test(name) && !isAddress;
}

const DOCUMENTATION = /^(?:remediation|recommendation|documentation|help) (?:url|uri|link|href)$/;

const KIND =
  /(?:types?|kind|action|operation|activity|category|schema|api|rule|rulename|module|policy|servicename|threatnames?|malwarefamily|virusname|provider|providername|namespace|resource|resourceid|product|productname|^event|^eventname)$/;
const ONE_NAME = /^#?[\w-]+(?:\.[\w-]+)+$/;
/** Matches the sender of an event in a cloud or event bus: `aws.guardduty`, `com.example.hook`. */
const SENDER = /^(?:aws|azure|gcp|com|org)\./;
/** Matches `Microsoft.KeyVault/vaults/accessPolicies/write`, and resource paths that contain such names. */
const RESOURCE = /^(?:\/subscriptions\/|Microsoft\.[A-Z])[^\s:]*$/;

/** True if a text is the name of a kind of event, object or malware, such as `user.session.start`, and not a domain. */
function isKind({ name, owner, value }: RawText): boolean {
  const text = value.trim();
  if (RESOURCE.test(text)) return true;
  if (!ONE_NAME.test(text)) return false;
  return KIND.test(name === 'name' ? owner : name) || (name === 'source' && SENDER.test(text));
}

const BODY_PART =
  /^(?:text|body|part|message|unnamed|untitled|mime)[-_. ]?\d{0,3}\.(?:html?|txt|plain)$/i;

/** True if a file is the body of the mail. Gateways list the body beside attachments, under these names. */
export const isBodyPart = (name: string): boolean =>
  name.length < 64 && BODY_PART.test(name.trim());

const NO_HOST = new Set(
  (
    'computer desktop laptop mobile tablet phone server workstation device machine host instance unknown other none ' +
    'windows linux macos android ios localhost'
  ).split(' '),
);
const NUMBERED = /^(?:[0-9a-f]{16,}|\d{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

export const isHostName = (value: string): boolean =>
  !NO_HOST.has(value.toLowerCase()) && !NUMBERED.test(value);

const SYSTEM_FOLDER = String.raw`(?:[a-z]:|\\device\\harddiskvolume\d+)\\windows\\(?:(?:system32|syswow64)\\(?:[\w.]+\\){0,3})?|/(?:usr/)?s?bin/`;
const SYSTEM_PROGRAMS =
  'system idle explorer svchost services lsass csrss smss wininit winlogon taskhostw dllhost conhost rundll32 regsvr32 ' +
  'cmd powershell pwsh wscript cscript mshta msiexec wmiprvse spoolsv werfault userinit runtimebroker sihost ctfmon ' +
  'winword excel powerpnt outlook onenote chrome msedge firefox ' +
  'bash sh dash zsh ash busybox sudo su systemd init sshd cron runc containerd containerd-shim kubelet java python python3 perl node';

/** Matches a system program in its usual folder or without a folder. Every machine has these programs. */
const SYSTEM_PROGRAM = new RegExp(
  `^(?:${SYSTEM_FOLDER})?(?:${SYSTEM_PROGRAMS.replaceAll(' ', '|')})(?:\\.exe)?$`,
  'i',
);
