import type { Alert, EventFormat } from '../reading/alert.js';
import { knownType } from '../reading/incident-type.js';
import { type Json, isObject, member, textOf } from '../reading/json.js';
import {
  type MailFields,
  fieldsIn,
  headline,
  mailFields,
  quoted,
  sentBetween,
  severityIn,
  textIn,
  wordIn,
} from './event-text.js';

const FIELDS = {
  host: ['host', 'hostname', 'host_name', 'device', 'computer'],
  user: ['user', 'username', 'user_name', 'account'],
  ip: ['ip', 'source_ip', 'src_ip', 'remote_ip'],
  domain: ['domain'],
  url: ['url'],
  file: ['file', 'file_name', 'filename', 'file_path'],
  hash: ['hash', 'sha256', 'file_hash', 'sha1', 'md5'],
  process: ['process', 'command_line'],
  outcome: ['outcome', 'result'],
  rule: ['rule', 'rule_name'],
  description: ['description', 'message'],
  link: ['link'],
} as const;

/** The service's own shape, for tools that can send what one tells them to: `event_type` and `data`. */
export const generic: EventFormat = {
  name: 'generic',

  read(event: Json): Alert | undefined {
    const eventType = wordIn(event, 'event_type');
    const data = member(event, 'data');
    if (eventType === undefined || !isMarked(data)) return undefined;
    const details = member(data, 'details');
    const mail = mailFields(details);
    return {
      event,
      eventId: textOf(member(data, 'alert_id')),
      title: titleOf(eventType, data, mail),
      type: knownType(eventType),
      mappedWords: [
        eventType,
        textIn(details, 'rule', 'rule_name') ?? textIn(data, 'rule', 'rule_name'),
      ],
      usualType: 'other',
      severity: severityIn(data, 'severity'),
      lift: {
        ...fieldsIn(data, FIELDS),
        ...fieldsIn(details, FIELDS),
        // Other events have a subject, too; it counts as one of a mail when a mail is spoken of.
        ...(mail.message_id || mail.sender ? mail : {}),
      },
    };
  },
};

/** Many tools send an `event_type` and `data`; ours has at least one of these three in it. */
function isMarked(data: Json | undefined): boolean {
  return (
    textOf(member(data, 'alert_id')) !== undefined ||
    textOf(member(data, 'severity')) !== undefined ||
    isObject(member(data, 'details'))
  );
}

/** Some put what belongs into `details` beside it. */
function titleOf(eventType: string, data: Json | undefined, mail: MailFields): string | undefined {
  const details = member(data, 'details');
  const said = (...names: string[]) => textIn(details, ...names) ?? textIn(data, ...names);
  return headline(
    said('title', 'rule_name', 'rule', 'name') ?? eventType.replaceAll('_', ' '),
    quoted(said('subject')) ?? said('file_name', 'filename', 'file', 'message', 'description'),
    said('host', 'hostname', 'device', 'ip', 'source_ip', 'src_ip'),
    said('user', 'username', 'user_name', 'account'),
    ...sentBetween(mail),
  );
}
