import type { Fact } from '../fact.js';
import {
  anyOf,
  atLeast,
  isFalse,
  isTrue,
  type Look,
  reads,
  type Rule,
  says,
  together,
  told,
  countOf,
  affirmed,
  keys,
} from '../rule.js';

const TAKEOVER = { group: 'sign_in', category: 'account_takeover', mitre: ['T1078'] } as const;
const COUNTRY_KEYS = keys(`
  country countryorregion countryname location geo previouscountry usualcountry
  originatingcountry xoriginatingcountry`);
const DEVICE_KEYS = keys(`device devicename devicestate deviceid trusttype`);

const twoCountries: Look = {
  at: 'countries of one event that are not all the same',
  find: (facts) => {
    const byCountry = new Map(
      facts
        .named(...COUNTRY_KEYS)
        .map((fact) => [String(fact.value).slice(-64).trim().toUpperCase(), fact]),
    );
    byCountry.delete('');
    return byCountry.size > 1 ? [...byCountry.values()] : [];
  },
};

const denials: Look = {
  at: 'at least three answers denied or timed out, and one approved',
  find: (facts) => {
    const answers = facts.named('r', 'result', 'response', 'answer', 'status', 'outcome');
    const refused = answers.filter(({ value }) =>
      /^(?:denied|timeout|timed out|rejected|no response)$/i.test(String(value)),
    );
    const approved = answers.filter(({ value }) =>
      /^(?:approved|accepted|success)$/i.test(String(value)),
    );
    return refused.length >= 3 && approved.length > 0 ? [approved[0]!, ...refused.slice(0, 3)] : [];
  },
};

const countedDenials = together(
  countOf(
    /(?:push\w*|prompt\w*|mfa\w*|factor\w*|notification\w*)(?:reject|den[iy]|declin|fail|timeout|timedout|ignored|unanswered)\w*|(?:reject|den[iy]|declin|fail|ignored)\w*(?:push|prompt|mfa|request)\w*/,
    3,
  ),
  anyOf(
    told(
      /result|outcome|approv|accept|last|final|status/,
      /^(?:true|[1-9]\d*|approved|accepted|success|granted)\b/i,
    ),
  ),
);

const countedBefore = together(
  atLeast(
    3,
    ...keys(`
      mfadenied mfadenials mfarejected mfafailures pushdenied pushesdenied pushdenials
      deniedpushes deniedprompts promptsdenied denials`),
  ),
  anyOf(
    atLeast(1, ...keys(`mfaapproved mfaapprovals pushapproved pushesapproved approvals`)),
    isTrue('mfaapproved', 'pushapproved', 'approved'),
  ),
);

const TIME_KEYS = keys(`at time timestamp createddatetime published eventtime t`);
const TWO_HOURS = 2 * 60 * 60 * 1_000;
const MOST_SIGN_INS = 100;

const ownerOf = ({ pointer }: Fact): string => pointer.slice(0, pointer.lastIndexOf('/'));

const soonElsewhere: Look = {
  at: `two entries with different countries (${COUNTRY_KEYS.join(', ')}) and times (${TIME_KEYS.join(', ')}) within two hours`,
  find: (facts) => {
    const times = new Map(
      facts.named(...TIME_KEYS).map((fact) => [ownerOf(fact), Date.parse(String(fact.value))]),
    );
    const signIns = facts
      .named(...COUNTRY_KEYS)
      .filter(({ value }) => /^[\p{L} -]{2,60}$/u.test(String(value)))
      .slice(0, MOST_SIGN_INS)
      .map((fact) => ({ fact, at: times.get(ownerOf(fact)) ?? NaN, country: String(fact.value) }));
    for (const one of signIns) {
      const other = signIns.find(
        ({ fact, at, country }) =>
          ownerOf(fact) !== ownerOf(one.fact) &&
          Math.abs(at - one.at) < TWO_HOURS &&
          country.toUpperCase() !== one.country.toUpperCase(),
      );
      if (other) return [one, other].map(({ fact, country }) => ({ ...fact, words: country }));
    }
    return [];
  },
};

/** `support@hosting.example` is the name of a company and no network. */
const outsideAddresses = (look: Look): Look => ({
  at: `${look.at}, outside of addresses`,
  find: (facts) => look.find(facts).filter(({ value }) => !/@|:\/\//.test(String(value))),
});

export const SESSION_RULES: readonly Rule[] = [
  {
    ...TAKEOVER,
    name: 'travel',
    points: 20,
    explanation: 'One account appeared in two places within too short a time.',
    look: says('travel'),
    category: 'impossible_travel',
  },
  {
    ...TAKEOVER,
    name: 'new_place',
    points: 10,
    explanation: 'The sign-in comes from a place or with a device that is new.',
    look: says('new_place'),
  },
  {
    ...TAKEOVER,
    name: 'two_countries',
    points: 15,
    explanation: 'The event names more than one country.',
    look: twoCountries,
  },
  {
    ...TAKEOVER,
    name: 'too_fast',
    points: 25,
    explanation: 'Nobody travels so fast.',
    look: atLeast(
      900,
      ...keys(`
        speedkmh velocitykmh velocity impliedspeedkmh travelspeedkmh requiredspeedkmh`),
    ),
    category: 'impossible_travel',
  },
  {
    ...TAKEOVER,
    name: 'token_reuse',
    points: 40,
    explanation: 'A session was used from elsewhere without a second factor of its own.',
    look: anyOf(
      says('token_reuse'),
      affirmed(
        /same(?:session|token|cookie)\w*|(?:session|token|cookie)(?:reused|replayed|stolen|hijack\w*)/,
      ),
    ),
    mitre: ['T1550.004', 'T1539'],
  },
  {
    ...TAKEOVER,
    name: 'hidden_network',
    points: 20,
    explanation: 'The address belongs to a hosting network, a proxy or Tor.',
    look: outsideAddresses(says('hidden_network')),
    mitre: ['T1090'],
  },
  {
    ...TAKEOVER,
    name: 'network_hidden_seen',
    points: 20,
    explanation: 'The tool sees a proxy or Tor.',
    look: affirmed(
      /^(?:is|ip|src|source|client|address|network|via)*(?:tor|torexit|torexitnode|proxy|openproxy|anonymous|anonymizer|anonymous(?:proxy|ip|vpn)|hosting|hostingprovider|datacenter|residentialproxy|publicvpn|consumervpn)$/,
    ),
    mitre: ['T1090'],
  },
  {
    ...TAKEOVER,
    name: 'unknown_device',
    points: 15,
    explanation: 'The device is not known or not managed.',
    look: anyOf(
      reads(DEVICE_KEYS, /^(?:$|unknown|unregistered|unmanaged|new\b)/i),
      isFalse(...keys(`iscompliant compliant managed ismanaged registered`)),
    ),
  },
  {
    ...TAKEOVER,
    name: 'newness_seen',
    points: 10,
    explanation: 'The tool sees a new device or place.',
    look: isTrue(...keys(`newdevice isnewdevice newlocation newcountry isnewlocation unfamiliar`)),
  },
  {
    ...TAKEOVER,
    name: 'legacy_protocol',
    points: 20,
    explanation: 'An old protocol was used that knows no second factor.',
    look: says('legacy_protocol'),
    mitre: ['T1078', 'T1110'],
  },
  {
    ...TAKEOVER,
    name: 'policy_not_applied',
    points: 10,
    explanation: 'No access policy was applied.',
    look: reads(['conditionalaccess', 'conditionalaccessstatus', 'authpolicy'], /^not ?applied$/i),
  },
  {
    ...TAKEOVER,
    name: 'no_second_factor',
    points: 12,
    explanation: 'No second factor was asked for.',
    look: reads(
      keys(`mfa mfaused mfaenabled mfasatisfied mfaresult mfastatus mfarequired`),
      /^(?:false|none|no|not (?:required|used|enrolled|performed)|skipped|disabled|bypassed)$/i,
    ),
  },
  {
    ...TAKEOVER,
    name: 'pushed_until_approved',
    points: 60,
    explanation: 'Requests for approval were denied again and again, until one was approved.',
    look: anyOf(denials, countedDenials, countedBefore, says('push_gave_in')),
    mitre: ['T1621'],
  },
  {
    ...TAKEOVER,
    name: 'push_flood',
    points: 35,
    explanation: 'The tool speaks of an account that is flooded with requests for approval.',
    look: says('push_flood'),
    mitre: ['T1621'],
  },
  {
    ...TAKEOVER,
    name: 'soon_elsewhere',
    points: 15,
    explanation: 'Sign-ins from two countries are less than two hours apart.',
    look: soonElsewhere,
    category: 'impossible_travel',
  },
  {
    ...TAKEOVER,
    name: 'many_prompts',
    points: 25,
    explanation: 'The account was flooded with requests for approval.',
    look: atLeast(4, ...keys(`promptsin10min prompts promptcount pushcount`)),
    mitre: ['T1621'],
  },
  {
    ...TAKEOVER,
    name: 'fraud_report',
    points: 35,
    explanation: 'The owner of the account says that it was somebody else.',
    look: says('fraud_report'),
  },
  {
    ...TAKEOVER,
    name: 'odd_client',
    points: 12,
    explanation: 'The client is a script.',
    look: reads(
      keys(`ua useragent clientappused client`),
      /python-requests|python-urllib|^curl\/|go-http-client|okhttp|axios/i,
    ),
  },
  {
    ...TAKEOVER,
    name: 'much_sent_after',
    points: 20,
    explanation: 'Very many messages were sent afterwards.',
    look: atLeast(100, 'mailssent', 'messagessent', 'emailssent'),
    mitre: ['T1534'],
  },
  {
    ...TAKEOVER,
    name: 'much_read_after',
    points: 15,
    explanation: 'Very many files or messages were read afterwards.',
    look: anyOf(
      countOf(
        /(?:messages|mails|emails|items|files|records|objects|rows|documents)\w*(?:export|download|read|cop|delet|access|sync|transfer)\w*|(?:export|download|copied|uploaded)\w*(?:files|items|messages|records|objects|count)$/,
        500,
      ),
      reads(['event'], /download \d[\d,]{3,} files/i),
    ),
    mitre: ['T1114'],
  },
];
