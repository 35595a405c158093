import { createHash } from 'node:crypto';
import type { Alert, EventFormat } from '../reading/alert.js';
import { knownType } from '../reading/incident-type.js';
import { type Json, type JsonObject, isObject, member, textOf } from '../reading/json.js';
import { fieldsIn, headline, severityIn, textIn, wordIn } from './event-text.js';

/** `host` is often the machine that forwarded the log, so it comes last. */
const HOST = ['dest', 'dvc', 'host'];

const FIELDS = {
  host: HOST,
  user: ['user', 'src_user'],
  ip: ['src_ip', 'src'],
  url: ['url'],
  file: ['file_path', 'file_name'],
  hash: ['file_hash'],
  process: ['process'],
  sender: ['src_user_email'],
  outcome: ['action'],
  rule: ['rule_name', 'signature'],
} as const;

/**
 * An alert of a Splunk search: by the webhook that Splunk comes with (`sid`, `results_link`, `owner`, `app`), or by an alert
 * action of one's own that sends `search_name` and `trigger_time`. `result` is the first row that the search found.
 * https://docs.splunk.com/Documentation/Splunk/latest/Alert/Webhooks
 * Rows have the names of the Common Information Model, as far as they keep to it:
 * https://docs.splunk.com/Documentation/CIM/latest/User/Overview
 */
export const logAlert: EventFormat = {
  name: 'log_alert',

  read(event: Json): Alert | undefined {
    const result = member(event, 'result');
    const searchId = wordIn(event, 'sid');
    const searchName = wordIn(event, 'search_name');
    if (!isObject(result) || (searchId ?? searchName) === undefined) return undefined;
    return {
      event,
      eventId: searchId === undefined ? undefined : `${searchId}:${hashOf(result)}`,
      title: titleOf(searchName, result),
      type:
        knownType(textOf(member(result, 'incident_type'))) ??
        knownType(textOf(member(result, 'category'))),
      mappedWords: [
        textOf(member(result, 'incident_type')),
        textOf(member(result, 'category')),
        searchName,
        textIn(result, 'rule_name', 'signature'),
      ],
      usualType: 'other',
      // Urgency is severity weighed with how much the asset matters, so it says more.
      severity: severityIn(result, 'urgency', 'severity'),
      lift: { ...fieldsIn(result, FIELDS), ...fieldsIn(event, { link: ['results_link'] }) },
    };
  },
};

function titleOf(searchName: string | undefined, result: JsonObject): string | undefined {
  return headline(
    searchName ?? textIn(result, 'rule_name', 'sourcetype', 'source') ?? 'Search',
    textIn(result, 'signature', 'EventCode'),
    textIn(result, ...HOST),
    textIn(result, 'user', 'src_user', 'src'),
  );
}

/** A search that sends each row gives all of them the same sid. The order of keys does not change the hash. */
function hashOf(result: JsonObject): string {
  const sorted = JSON.stringify(result, (_, value: Json) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value,
  );
  return createHash('sha256').update(sorted).digest('hex');
}

function byKey([a]: readonly [string, Json], [b]: readonly [string, Json]): number {
  return a < b ? -1 : 1;
}
