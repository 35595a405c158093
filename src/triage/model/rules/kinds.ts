import { isOwnPlace } from '../../evidence/own-places.js';
import { type Condition, says } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import type { Sign } from './signs.js';

/** Names under which tools describe the event. */
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

/** True for places of tools and for search results. Search results count only if no sign exists against the event. */
export const isRecord = ({ path }: Fact): boolean =>
  isOwnPlace(path) || /^result\/[^/]+$/.test(path);

const isNegated = ({ value, words = '' }: Fact): boolean => {
  const [first = ''] = words.split(' ');
  const negated = new RegExp(`\\b(?:no|not|0|without|zero|non)[ -](?:\\w+ ){0,2}${first}`, 'i');
  return negated.test(String(value).slice(0, 500));
};

/** Matches alarming words of the tool about the event. */
export const told = (sign: Sign): Condition => ({
  only: (fact, facts) =>
    isKind(fact, facts) && !isNegated(fact) && (sign === 'grave_word' || facts.severity !== 'low'),
  from: says(sign),
});

/** Excludes quotes and equals signs, after which tools put texts of strangers. */
const PLAIN = /^[\p{L}\p{N}\s.,:;()[\]/%+_*#&|>→–-]{1,200}$/u;
/** Matches an everyday kind of event, in a text of the tool without an alarming word. */
export const ordinary = (sign: Sign): Condition => ({
  only: (fact, facts) =>
    isKind(fact, facts) &&
    isRecord(fact) &&
    PLAIN.test(String(fact.value)) &&
    !facts.saying('grave_word', 'odd_word').some(({ pointer }) => pointer === fact.pointer),
  from: says(sign),
});
