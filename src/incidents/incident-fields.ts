import { LONGEST_TEXT } from '../action-catalogue/parameters.js';

/** Well-known keys with the same meaning for every tool. Titles, triage, playbooks and indicators read these keys. */
export const INCIDENT_FIELDS = {
  sender: 'address of the sender that the mail shows',
  recipient: 'address that received the mail; the first if several',
  recipients: 'addresses that received the mail, separated by commas, if several; at most 50',
  subject: 'subject of the mail',
  message_id: 'Message-ID of the mail, or its id in the mail tool',
  received_at: 'time of arrival of the mail',
  host: 'name of the machine, or its id if there is no name',
  user: 'user of the event',
  ip: 'remote address: source or destination of the event',
  domain: 'remote domain: source or destination of the event',
  url: 'link in the mail, or page that the user opened',
  file: 'name or path of the file',
  hash: 'digest of the file; SHA-256 if the tool has it',
  process: 'process, with its command line if the tool has it',
  container: 'container or pod',
  outcome: '`succeeded`, `failed` or `blocked`',
  account: 'cloud account or tenant',
  resource: 'cloud resource or application',
  repository: 'repository',
  package: 'software package',
  rule: 'name or id of the rule in the tool',
  description: 'description of the event by the tool',
  link: "page of the event in the tool's console",
  event_id: 'id of the event in the tool',
} as const;

export type IncidentFieldName = keyof typeof INCIDENT_FIELDS;

export type IncidentFields = Readonly<Record<string, string>>;

const LONGEST_FIELD = 4096;

export type RawData = Readonly<Record<string, unknown>>;

/** Digest algorithms. The field `hash` is the first of these digests that exists. */
const DIGESTS = ['sha256', 'sha1', 'md5'] as const;

export const NO_VALUE = new Set(['-', '--', 'n/a', 'na', 'none', 'null', 'undefined', 'unknown']);
/** Reads the well-known keys at the top level of `raw_data` of an incident that was created by the API. */
export function fieldsOfRawData(rawData: RawData): IncidentFields {
  const own = [...Object.keys(INCIDENT_FIELDS), ...DIGESTS].filter((name) =>
    Object.hasOwn(rawData, name),
  );
  const found = Object.entries(fieldsFrom(own.map((name) => [name, rawData[name]])));
  return Object.fromEntries(found.filter(([name]) => Object.hasOwn(INCIDENT_FIELDS, name)));
}

export function fieldsFrom(values: readonly (readonly [string, unknown])[]): IncidentFields {
  const texts = values.flatMap(([name, value]) => {
    const text = fieldValue(name, value);
    return text === undefined ? [] : [[name, text]];
  });
  const fields = Object.fromEntries(texts) as Record<string, string>;
  const digest = DIGESTS.find((name) => fields[name] !== undefined);
  return digest && !fields['hash'] ? { ...fields, hash: fields[digest]! } : fields;
}

/** Returns the text of the field; `undefined` if the value is meaningless, such as the host `Computer`, or has the wrong shape. */
export function fieldValue(name: string, value: unknown): string | undefined {
  const text = fieldText(value);
  const { meaningless = [], normal = String, shape = /^/ } = RULES.get(name) ?? {};
  if (text === undefined || meaningless.includes(text.toLowerCase())) return undefined;
  return shape.test(normal(text)) ? normal(text) : undefined;
}

/** Returns the text of a value or of a list's first item; `undefined` for an object, or for a word such as `unknown`. */
export function fieldText(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one === 'number' || typeof one === 'boolean') return String(one);
  if (typeof one !== 'string' || one.length > LONGEST_FIELD) return undefined;
  const text = one.trim();
  return text === '' || NO_VALUE.has(text.toLowerCase()) ? undefined : text;
}

/** Omits the display name, because a display name is no evidence: `The CEO <someone@example.net>`. */
export function addressIn(mailbox: string): string {
  if (!mailbox.endsWith('>')) return mailbox;
  const inner = mailbox.slice(mailbox.lastIndexOf('<') + 1, -1);
  const at = inner.indexOf('@', 1);
  return at > 0 && at < inner.length - 1 && !/[\s>]/.test(inner) ? inner : mailbox;
}

const MOST_ADDRESSES = 50;

/** Joins several mailboxes to the recipient of an action on a mail. Returns `undefined` for fewer than two mailboxes. */
export function addressList(values: readonly unknown[]): string | undefined {
  const texts = values.map((value) => fieldValue('recipient', value));
  const addresses = texts.filter(
    (text) => text !== undefined && /^[^\s@,;]+@[^\s@,;]+$/.test(text),
  );
  const list = [...new Set(addresses)].slice(0, MOST_ADDRESSES);
  // Validation would reject a longer parameter.
  while (list.join(', ').length > LONGEST_TEXT) list.pop();
  return list.length > 1 ? list.join(', ') : undefined;
}

const OUTCOMES: readonly (readonly [string, RegExp])[] = [
  ['succeeded', /^succe(?:ss(?:ful)?|eded)$/i],
  ['failed', /^fail(?:ure|ed)?$/i],
  ['blocked', /^(?:blocked|block|denied|deny|prevented)$/i],
];
export const OUTCOME_WORD = /^(?:succeeded|failed|blocked)$/;
const outcomeIn = (word: string): string =>
  OUTCOMES.find(([, words]) => words.test(word))?.[0] ?? word;

interface Rule {
  readonly meaningless?: readonly string[];
  readonly normal?: (text: string) => string;
  /** Shape of a valid value, on which playbooks act. Attackers choose the text, so each check takes linear time. */
  readonly shape?: RegExp;
}

const RULES: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    sender: { normal: addressIn },
    recipient: { normal: addressIn },
    host: {
      meaningless: ['computer', 'mobile', 'tablet', 'localhost', '127.0.0.1', '::1'],
      // In `db-1:9100`, the port belongs to a process on the host `db-1`, so the port is removed.
      normal: (place) => place.replace(/^([^\s:]+):\d{1,5}$/, '$1'),
      shape: /^[^@/]+$/,
    },
    user: {
      meaningless: `system|nt authority\\system|localsystem|anonymous|github|dependabot[bot]`.split(
        '|',
      ),
    },
    ip: { shape: /^(?:[\d.]{7,15}|[\da-f.]*:[\da-f:.]*)$/i },
    url: { shape: /^(?:[a-z][a-z\d+.-]*:\/\/\S+|[^\s@/][^\s@/.]*\.[^\s@/]+\/\S*)$/i },
    domain: { shape: /^[^\s@/:][^\s@/:.]*\.[^\s@/:]+$/ },
    hash: { shape: /^[\da-f]{32,128}$/i },
    outcome: { normal: outcomeIn, shape: OUTCOME_WORD },
    // Mail bodies and connections are not files.
    file: { shape: /^(?!text\.(?:html|txt|plain)$|.*->)/i },
  }),
);

/** Returns those fields whose values are not also in `rawData` under the same key at the top level. */
export function fieldsBeside(rawData: RawData, fields: IncidentFields): IncidentFields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, text]) => rawData[name] !== text),
  );
}
