import { isOwnPlace } from '../../evidence/own-places.js';
import { type Condition, says } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import type { Sign } from './signs.js';

/** Names under which tools write what happened. */
const KIND_KEYS = new Set(
  (
    'title alert alertname alertdisplayname displayname rule rulename ruledescription description event eventname ' +
    'eventtype eventaction action activity activitytype activitydisplayname operation operationname methodname ' +
    'name message msg summary detection detectname detectionname signature category type detailtype findingtype alerttype ' +
    'searchname monitorname alertdetails alerttypefriendlyname status reason logmessage eventdescription subcategory ' +
    'taskcategory shortdescription eventtypename policyname verb state logcode phase resultdescription'
  ).split(' '),
);
export const isKind = (fact: Fact, { isMail }: Facts): boolean =>
  !isMail && KIND_KEYS.has(fact.key);

/** Places of tools, and results of a search: those count only if no sign speaks against the event. */
export const isRecord = ({ path }: Fact): boolean =>
  isOwnPlace(path) || /^result\/[^/]+$/.test(path);

const isNegated = ({ value, words = '' }: Fact): boolean => {
  const [first = ''] = words.split(' ');
  const negated = new RegExp(`\\b(?:no|not|0|without|zero|non)[ -](?:\\w+ ){0,2}${first}`, 'i');
  return negated.test(String(value).slice(0, 500));
};

/** Alarming words of the tool about the event. */
export const told = (sign: Sign): Condition => ({
  only: (fact, facts) =>
    isKind(fact, facts) && !isNegated(fact) && (sign === 'grave_word' || facts.severity !== 'low'),
  from: says(sign),
});

/** Tools put texts of strangers between quotes or behind a sign of equality. */
const PLAIN = /^[\p{L}\p{N}\s.,:;()[\]/%+_*#&|>→–-]{1,200}$/u;
/** An everyday kind of event, in a text of the tool without an alarming word. */
export const ordinary = (sign: Sign): Condition => ({
  only: (fact, facts) =>
    isKind(fact, facts) &&
    isRecord(fact) &&
    PLAIN.test(String(fact.value)) &&
    !facts.saying('grave_word', 'odd_word').some(({ pointer }) => pointer === fact.pointer),
  from: says(sign),
});
