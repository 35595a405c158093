import { NO_VALUE, type RawData } from './incident-fields.js';

export const LONGEST_TITLE = 200;

/** Maximum characters that are read. Larger than the maximum of a title, because invisible characters are removed. */
const MOST_READ = 4 * LONGEST_TITLE;

/** Line breaks, tabs, NUL and all spaces. U+2800 is a Braille pattern without dots, which looks like a space. */
const GAPS = /[\p{Cc}\p{Z}\u2800]+/gu;

/** Invisible characters, such as direction marks, which can make two titles look equal. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** Returns text of third parties as one line of at most `most` characters; `undefined` if the text has no visible characters. */
export function titleLine(text: string, most = LONGEST_TITLE): string | undefined {
  const seen = oneLine(text.slice(0, MOST_READ));
  return seen === '' ? undefined : shortened(seen, most);
}

/** Returns the visible text in one line. Invisible characters and direction marks would change the text around it. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(UNSEEN, '').replace(GAPS, ' ').trim();
}

export const SEEN = /[^\p{Cc}\p{Z}\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Cuts a text, but never inside a surrogate pair. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

/** Paths of keys, in order of priority. A path is the keys joined by dots. */
export type Spots = readonly string[];

/** Parses paths that are written in snake case, and adds the other spellings that tools use. */
function spots(names: string): Spots {
  return [...new Set(names.trim().split(/\s+/).flatMap(spellings))];
}

function spellings(name: string): string[] {
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const pascal = camel.replace(/(?:^|\.)[a-z]/g, (letter) => letter.toUpperCase());
  const loud = (word: string) => word.replace(/Ip(?![a-z])/, 'IP');
  return [name, camel, loud(camel), pascal, loud(pascal)];
}

/** Paths of the values in a title, for the events of known tools. The first path with a value is used. */
export const AT = {
  subject: spots('subject email_subject mail_subject message_subject email.subject'),
  // The path of the address comes first, because the sender can choose any display name.
  sender: spots(`from.email_address.address sender.email_address.address from.address
    sender.address sender from sender_address sender_email from_address from_email email_from
    sender_from_address header_from mail_from envelope_from return_path email.from email.sender reported_sender`),
  replyTo: spots('reply_to reply-to Reply-To reply_to_address reply_to_email email.reply_to'),
  recipient: spots(`recipient recipients to recipient_address recipient_email
    recipient_email_address to_address email_to rcpt_to email.to target_user reported_by reporter mailbox`),
  host: spots(`host hostname host_name device device_name device_dns_name computer
    computer_name endpoint endpoint_name machine machine_name asset asset_name agent agent_name dvc dest_host
    agent_realtime_info.agent_computer_name host.name agent.name instance instance_id pod container resource
    repository`),
  user: spots(`user username user_name user_principal_name upn account_upn target_user email
    user_email login principal user_id actor.alternate_id actor actor.user user.name user.email identity`),
  // Not in `user`: a cloud account is a tenant, not a person. In an account takeover, the account is a person.
  account: spots('account account_name'),
  address: spots(`source_ip src_ip ip ip_address client_ip remote_ip caller_ip_address
    source_ip_address source_address src_address src sourceIPAddress source.ip client.ip client.ip_address
    src_endpoint.ip remote_address`),
  country: spots(`country country_name country_code source_country src_country geo_country
    geo.country geo.country_name geoip.country_name location.country location.country_or_region
    source.geo.country_name client.geographical_context.country`),
  outcome: spots('outcome'),
  file: spots(`file_name file file_path filename file.name file.path process_name process
    process.name path object_name sha256 file_hash hash package`),
  destination: spots(`destination destination_domain destination_host dest_domain
    destination_url destination_ip dest_ip dst_ip dest dst destination.domain destination.ip dst_endpoint.ip url
    domain remote_host bucket`),
  detection: spots(`detection_name detect_name malware_name malware malware_family family
    threat_name threat threat_info.threat_name signature virus_name ransomware ransomware_family detection
    threat.name`),
  rule: spots(`title alert_title finding_info finding rule_name rule alert_name alertname
    alert signature policy_name policy kibana.alert.rule.name search_name rule.name detection_name name
    display_name display_message summary headline reason message description event_name event_type activity
    rule_id category`),
};

/** Keys whose value stands for the whole object, as in `{"user": {"name": "ada"}}`. */
const NAMES = spots(`email email_address name display_name user_name hostname title signature
  address rule_name threat_name description path ip value`);

export function firstText(rawData: RawData, places: Spots, most: number): string | undefined {
  return firstOf(places, (spot) => textOf(at(rawData, spot), most, MOST_LEVELS));
}

/** Reads the value at a path. Some tools write a path as one key, such as `host.name`. */
function at(root: RawData, spot: string): unknown {
  if (Object.hasOwn(root, spot)) return root[spot];
  if (!spot.includes('.')) return undefined;
  return spot
    .split('.')
    .reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      root,
    );
}

function isObject(value: unknown): value is RawData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum levels that `textOf` searches, as in `{"from": [{"emailAddress": {"address": "a@example.com"}}]}`. */
const MOST_LEVELS = 3;

/** Returns the value as text. For a list, uses the first item. For an object, uses the first key in NAMES. */
function textOf(value: unknown, most: number, levels: number): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') {
    const line = titleLine(value, most);
    return line === undefined || NO_VALUE.has(line.toLowerCase()) ? undefined : line;
  }
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return textOf(value[0], most, levels - 1);
  if (!isObject(value)) return undefined;
  return firstOf(NAMES, (spot) => textOf(at(value, spot), most, levels - 1));
}

function firstOf<T>(items: readonly T[], textIn: (item: T) => string | undefined) {
  for (const item of items) {
    const text = textIn(item);
    if (text !== undefined) return text;
  }
  return undefined;
}
