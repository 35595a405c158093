import { isIP } from 'node:net';
import type { Doubt } from '../doubts.js';
import type { Fact } from '../fact.js';
import type { Facts } from '../facts.js';
import { ONLY_OF_REQUESTS, requestsLike } from '../requests.js';
import { type HabitKind, type Look, numberOf, reading, recorded, type Rule } from '../rule.js';

export const isYes = ({ value }: Fact): boolean => /^(?:true|yes|y|1)$/i.test(String(value).trim());
export const isNo = ({ value }: Fact): boolean =>
  /^(?:false|no|0|0\.0|none)$/i.test(String(value).trim());
/** `1840`, or `1,840 machines today`. */
const counted = ({ value }: Fact): number => {
  const [first = ''] = /^\d[\d,.']{0,15}(?= [a-z])/i.exec(String(value)) ?? [];
  return first === '' ? numberOf(value) : Number(first.replace(/[,.']/g, ''));
};
export const counting = (least: number) => (fact: Fact) => counted(fact) >= least;

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/;
const HALF_A_YEAR = 180 * 24 * 60 * 60 * 1_000;
const dayOf = ({ value }: Fact): number => {
  const [, year, month = '01', day = '01'] = DATE.exec(String(value)) ?? [];
  return year === undefined ? NaN : Date.parse(`${year}-${month}-${day}`);
};
/** By the newest date of the event itself, so that the verdict does not depend on the day on which it is asked for. */
export const longAgo = (names: RegExp): Look => {
  const told = recorded(
    names,
    reading(/\b(?:[1-9]\d?|several|many) years?\b|\b(?:[6-9]|[1-9]\d) months\b/i),
  );
  const dates = recorded(names, (fact) => dayOf(fact) > 0);
  return {
    at: `dates under names like ${names.source}, half a year older than the newest of the event, or as many months or years`,
    find: (facts) => {
      const dated = dates.find(facts);
      const days = dated.length === 0 ? [] : facts.allOfTools.map(dayOf).filter((day) => day > 0);
      const newest = days.reduce((one, other) => Math.max(one, other), 0);
      return [...told.find(facts), ...dated.filter((fact) => newest - dayOf(fact) >= HALF_A_YEAR)];
    },
  };
};

const USUAL = /^(?:usual|normal|typical|average|baseline)(?:weekly|daily|hourly|perday|perweek)?/;
/** Each is held against all numbers of the event: a stranger may send usual counts by the thousand. */
const MOST_USUAL = 20;
/** A count beside the usual one of the same thing: `files` beside `usual_weekly_files`. */
function besideUsual(facts: Facts, fits: (count: number, usual: number) => boolean): Fact[] {
  const usual = facts.allOfTools
    .filter(({ key, value }) => USUAL.test(key) && numberOf(value) > 0)
    .slice(0, MOST_USUAL);
  if (usual.length === 0) return [];
  const counts = facts.allOfTools.filter(
    ({ key, value }) => numberOf(value) >= 0 && !USUAL.test(key),
  );
  return usual.filter(({ key, value }) => {
    const thing = key.replace(USUAL, '').replace(/(?:per)?(?:day|week|hour)$/, '');
    return counts.some(
      (count) =>
        (thing === '' ? count.key === 'count' : count.key.includes(thing)) &&
        fits(numberOf(count.value), numberOf(value)),
    );
  });
}
export const asUsual: Look = {
  at: 'counts that are at most half above the usual one beside them',
  find: (facts) => besideUsual(facts, (count, usual) => count > 0 && count <= usual * 1.5),
};
export const farAboveUsual: Look = {
  at: 'counts that are five times the usual one beside them',
  find: (facts) => besideUsual(facts, (count, usual) => count >= usual * 5),
};

const REMOTE_END = /^(?:dst|dest|destination|remote)(?:ip|address|ipaddress)?$/;
const NEAR_END =
  /^(?:src|source|local|client|from|attacker|actor)(?:ip|address|ipaddress)?$|^ip(?:address)?$/;
const PRIVATE_ADDRESS = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;
const isPrivate = ({ value }: Fact): boolean => PRIVATE_ADDRESS.test(String(value));

/** Both ends have to be known: a connection from outside ends inside, too. */
export const insideOnly: Look = {
  at: 'connections of which both ends have private addresses',
  find: (facts) => {
    const ends = facts.allOfTools.filter(({ value }) => isIP(String(value)) !== 0);
    const far = ends.filter(({ key }) => REMOTE_END.test(key));
    const near = ends.filter(({ key }) => NEAR_END.test(key));
    const isKnown = far.length > 0 && near.length > 0;
    return isKnown && [...far, ...near].every(isPrivate) ? quoted([near[0]!, far[0]!]) : [];
  },
};
const quoted = (facts: readonly Fact[]): readonly Fact[] =>
  facts.map((fact) => ({ ...fact, words: `${fact.key}: ${String(fact.value)}` }));

/** A program that is blocked on a machine, or a mail that is held, is no request to a server. */
export const ofRequests = (look: Look): Look => ({
  at: `${look.at}, of requests to servers`,
  find: (facts) => {
    const isRequest =
      !facts.isMail &&
      (requestsLike.find(facts).length > 0 ||
        facts.saying('web_attack').length > 0 ||
        facts.named(...ONLY_OF_REQUESTS).length > 0);
    return isRequest ? look.find(facts) : [];
  },
});

export const habit = (
  name: string,
  kind: HabitKind,
  points: number,
  calms: readonly Doubt[],
  explanation: string,
  look: Look,
): Rule => ({
  group: 'reassuring',
  category: 'legitimate',
  name,
  kind,
  points: -points,
  calms,
  explanation,
  look,
});

export const ADMINISTRATION: readonly Doubt[] = [
  'run',
  'fetch',
  'program',
  'calls',
  'files',
  'rating',
];
