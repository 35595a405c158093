/**
 * The well-known keys: the same name has the same meaning whatever the tool calls it. Titles, triage, playbooks and indicators
 * read them in `fields` of an incident; `raw_data` stays exactly what came.
 */
export const INCIDENT_FIELDS = {
  sender: 'the sender that the mail shows, as an address',
  recipient: 'the address that received the mail; the first of several',
  subject: 'the subject of the mail',
  message_id: 'the Message-ID of the mail, or the id that the mail tool knows it by',
  received_at: 'when the mail arrived',
  host: 'the machine that the event is about: its name, else its id',
  user: 'the user that the event is about',
  ip: 'the other side: the address that the event came from or went to',
  domain: 'the domain that the event came from or went to',
  url: 'the link of the mail, or the page that somebody opened',
  file: 'name or path of the file',
  hash: 'the digest of the file: SHA-256 where the tool has it',
  process: 'the process, with its command line where the tool has it',
  container: 'the container or pod',
  account: 'the cloud account or tenant',
  resource: 'the cloud resource or the application',
  repository: 'the repository',
  package: 'the software package',
  rule: 'the rule that fired, as the tool calls it',
  description: 'what the tool says about the event',
  link: "the page of the tool's console that shows the event",
  event_id: 'the id of the event at the tool',
} as const;

export type IncidentFieldName = keyof typeof INCIDENT_FIELDS;

/** Well-known keys, and others that the mapping of a source lifts. Each value is one text. */
export type IncidentFields = Readonly<Record<string, string>>;

/** A longer text is no name, address or path. */
export const LONGEST_FIELD = 4096;

type RawData = Readonly<Record<string, unknown>>;

/** The well-known keys at the top of raw data: what somebody who creates an incident by the API says in these words. */
export function fieldsOfRawData(rawData: RawData): IncidentFields {
  const said = Object.keys(INCIDENT_FIELDS).map((name) => [
    name,
    Object.hasOwn(rawData, name) ? fieldText(rawData[name]) : undefined,
  ]);
  return Object.fromEntries(said.filter(([, text]) => text !== undefined)) as IncidentFields;
}

/** A value as the text of a field: a text or number, of a list its first item. Objects and empty texts are none. */
export function fieldText(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one === 'number') return String(one);
  if (typeof one !== 'string' || one.length > LONGEST_FIELD) return undefined;
  return one.trim() || undefined;
}
