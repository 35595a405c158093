import type { Alert, EventFormat } from '../reading/alert.js';
import { type Translations, knownType } from '../reading/incident-type.js';
import { type Json, member, textOf } from '../reading/json.js';
import {
  fieldsIn,
  headline,
  mailFields,
  quoted,
  sentBetween,
  severityIn,
  wordIn,
} from './event-text.js';

/**
 * What Microsoft calls kinds of mail and of alerts:
 * https://learn.microsoft.com/en-us/defender-office-365/alert-policies-defender-portal
 * Stages of an attack, such as InitialAccess, are not here: they say nothing about what came by mail.
 */
const CATEGORIES: Translations = new Map([
  ['phish', 'phishing'],
  ['highconfidencephish', 'phishing'],
  ['highconfphish', 'phishing'],
  ['spearphishing', 'phishing'],
  ['highconfidencespam', 'spam'],
  ['bulk', 'spam'],
  ['businessemailcompromise', 'bec'],
  ['exfiltration', 'data_exfiltration'],
  ['datalossprevention', 'policy_violation'],
]);

/** An alert of Microsoft Defender for Office 365, as relays forward it: what happened, and in `data` the mail. */
export const emailAlert: EventFormat = {
  name: 'email_alert',

  read(event: Json): Alert | undefined {
    const eventType = wordIn(event, 'eventType');
    const category = wordIn(event, 'category');
    const marked = category ?? wordIn(event, 'entityType') ?? wordIn(event, 'creationTime');
    const mail = mailFields(member(event, 'data'));
    if (eventType === undefined || marked === undefined || isEmpty(mail)) return undefined;
    return {
      event,
      eventId: textOf(member(event, 'id')),
      title: headline(category ?? eventType, quoted(mail.subject), ...sentBetween(mail)),
      type: knownType(category, CATEGORIES) ?? knownType(eventType, CATEGORIES),
      mappedWords: [category, eventType],
      usualType: 'phishing',
      severity: severityIn(event, 'severity'),
      lift: { ...fieldsIn(member(event, 'data'), { url: ['url', 'urls', 'Url'] }), ...mail },
    };
  },
};

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
