import {
  all,
  any,
  atLeast,
  byTool,
  type Condition,
  evaluate,
  isFalse,
  type Look,
  reads,
  says,
  tells,
  yes,
} from './conditions.js';
import { isOwnPlace } from '../../evidence/own-places.js';
import type { Fact, Facts } from './facts.js';
import { wordsOf } from './phrases.js';
import { type Sign, SIGNS } from './signs.js';

const split = (keys: string): readonly string[] => keys.split(' ');

/* Requests to servers. */

const REQUEST_KEYS = split(
  'uri url path p query querystring request requesturi requesturl requestline requestbody httpurl httprequest args matcheddata payload postdata body parameter useragent httpuseragent referer',
);
/** Names that occur only in requests to servers. The other names also occur in mails. */
const ONLY_OF_REQUESTS = REQUEST_KEYS.filter((key) =>
  /^(?:uri|querystring|request\w*|http\w+)$/.test(key),
);

/** Attacks in a request as the server reads it. Each repetition has a limit, which prevents backtracking without end. */
const ATTACKS: readonly RegExp[] = [
  /\bunion\s{1,20}(?:all\s{1,20})?select\b/i,
  /['"]\s{0,9}(?:or|and)\s{1,9}['"(]{0,3}\w{1,20}['"]{0,2}\s{0,9}=/i,
  /;\s{0,9}drop\s{1,9}table\b|\bwaitfor\s{1,9}delay\b|\b(?:pg_)?sleep\s{0,3}\(\s{0,3}\d|information_schema\.|xp_cmdshell/i,
  /(?:\.\.[\\/]){2}|\.\.[\\/]{1,3}(?:etc|windows|proc)\b|[\\/]etc[\\/](?:passwd|shadow)\b|[\\/]windows[\\/]win\.ini/i,
  /(?:[;|`]|&&|\$\()\s{0,9}(?:cat|id|whoami|wget|curl|nc|bash|sh|ping|uname|powershell|cmd(?:\.exe)?)\b(?!\s{0,3}=)/i,
  /(?<!\/exec)[?&](?:cmd|exec|command)=(?:whoami|id|cat|ls|dir|uname|net|ipconfig|ifconfig|type)\b|\$\{jndi:/i,
  /class\.module\.classloader|autodiscover\.json\?\S{0,40}@|x-rps-cat|php:\/\/(?:input|filter)|\b(?:eval|passthru|shell_exec|base64_decode)\s{0,3}\(/i,
  /<script\b|\bonerror\s{0,5}=/i,
];
const LONGEST_REQUEST = 8_192;

/** Decodes percent signs twice, because an attacker encodes them twice to pass a filter. */
const asRead = (request: string): string =>
  unescaped(unescaped(request.slice(0, LONGEST_REQUEST).replaceAll('+', ' '))).replaceAll(
    '/**/',
    ' ',
  );
const unescaped = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

const requestsOf = (facts: Facts): readonly Fact[] =>
  facts.isMail
    ? facts.named(...ONLY_OF_REQUESTS)
    : [
        ...facts.named(...REQUEST_KEYS),
        ...facts.all.filter(({ value }) => /^(?:GET|POST|PUT|DELETE|HEAD) \//.test(String(value))),
      ];

export const requestLikeAttack: Look = (facts) =>
  requestsOf(facts).flatMap((fact) => {
    const text = asRead(String(fact.value));
    const words = ATTACKS.map((attack) => attack.exec(text)?.[0]).find(Boolean);
    return words === undefined ? [] : [{ ...fact, words }];
  });
export const request: Look = (facts) => requestsOf(facts).filter(({ value }) => value !== '');
/** An attack that the tool names. Excludes code findings, because a weakness has the name of the attack that it allows. */
export const webAttackNamed: Condition = {
  only: ({ key }, { fields }) => fields.repository === undefined && !REQUEST_KEYS.includes(key),
  from: tells('web_attack'),
};

export const requestLetThrough = all(
  any(requestLikeAttack, webAttackNamed),
  any(
    reads('status statuscode responsecode httpstatus responsestatus', /^(?:2\d\d|500)$/),
    reads(
      'wafaction action disposition mode',
      /^(?:detect(?:ed)?|log(?:ged)?(?: only)?|alert(?:ed)?|allow(?:ed)?|pass(?:ed)?|monitor(?:ed)?|count)$/i,
    ),
    isFalse('blocked prevented'),
  ),
);

/* Sign-ins. */

const PLACE = /(?:country|location|geo|home)[^/]*(?:\/[^/]+)?$/;
const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Countries by their codes and English names. */
const COUNTRIES = new Map(
  LETTERS.flatMap((one) => LETTERS.map((two) => one + two)).flatMap((code) => {
    const name = regions.of(code)!.toUpperCase();
    return name === code ? [] : [[code, name] as const, [name, name] as const];
  }),
);
/** Unifies `DE`, `Germany` and `Berlin, DE`. */
export const twoCountries: Look = (facts) => {
  const named = facts.all.flatMap((fact) => {
    const last = String(fact.value).slice(-64).split(',').at(-1)!.trim().toUpperCase();
    const unknown = /country/.test(fact.key) && /^[\p{L} .-]{2,64}$/u.test(last) ? last : undefined;
    const country = PLACE.test(fact.path) ? (COUNTRIES.get(last) ?? unknown) : undefined;
    return country === undefined ? [] : [[country, fact] as const];
  });
  const byCountry = new Map(named);
  return byCountry.size > 1 ? [...byCountry.values()] : [];
};

/** At least three answers denied or timed out, and one answer approved. */
const denials: Look = (facts) => {
  const answers = facts.named('r', 'result', 'response', 'answer', 'status', 'outcome');
  const refused = answers.filter(({ value }) =>
    /^(?:denied|timeout|timed out|rejected|no response)$/i.test(String(value)),
  );
  const approved = answers.filter(({ value }) =>
    /^(?:approved|accepted|success)$/i.test(String(value)),
  );
  return refused.length >= 3 && approved.length > 0 ? [approved[0]!, ...refused.slice(0, 3)] : [];
};
export const approvedAfterDenials = any(
  denials,
  all(
    atLeast(
      3,
      /(?:push\w*|prompt\w*|mfa\w*|factor\w*|notification\w*)(?:reject|den[iy]|declin|fail|timeout|timedout|ignored|unanswered)\w*|(?:reject|den[iy]|declin|fail|ignored)\w*(?:push|prompt|mfa|request)\w*/,
    ),
    reads(
      /result|outcome|approv|accept|last|final|status/,
      /^(?:true|[1-9]\d*|approved|accepted|success|granted)\b/i,
    ),
  ),
);

/* Clouds and directories. */

/** A call without an error. */
export const callSucceeded: Look = (facts) =>
  facts.named('errorcode').some(({ value }) => /[a-z]/i.test(String(value)))
    ? []
    : facts
        .named('eventname', 'operation', 'operationname', 'methodname', 'activitydisplayname')
        .slice(0, 1);
export const openedToAll = any(
  all(
    reads('eventname', /^AuthorizeSecurityGroupIngress$/),
    reads('cidrip cidripv6', /^(?:0\.0\.0\.0\/0|::\/0)$/),
    reads('fromport', /^(?!80$|443$)-?\d+$/),
  ),
  all(reads('principal aws', /^\*$/), reads('effect', /^Allow$/i)),
  all(
    reads('sourceaddressprefix', /^(?:\*|any|internet|0\.0\.0\.0(?:\/0)?)$/i),
    reads('access', /^Allow$/i),
  ),
  all(
    reads('eventname', /^Modify(?:Snapshot|Image|DBSnapshot|DBClusterSnapshot)Attribute$/),
    reads(/^(?:group|valuestoadd|userid)$/, /^(?:all|\d{12})$/i),
  ),
  reads('member members', /^all(?:Authenticated)?Users$/),
  all(
    reads('eventname', /^(?:Put\w*Acl|CreateBucket)$/),
    reads(/acl|uri|grant/, /public-read|AllUsers|AuthenticatedUsers/),
  ),
);
/** Only domain controllers and the cloud synchronisation replicate the directory. */
export const replicationByUser = all(
  reads('properties accesses objectproperties', /1131f6a[ad]-9c07|89e95b76-444d/i),
  reads(
    'subjectusername subjectuser accountname user username',
    /^(?!(?:[\w-]*dc[\w-]*\$$|(?:msol_|aad_|adsyncmsa)\S*$))/i,
  ),
);

/** A list of at least three values. */
export const severalValues =
  (keys: string): Look =>
  (facts) => {
    const found = facts.named(...split(keys));
    return found.length > 2 ? found : [];
  };

/** Ignores addresses: `support@hosting.example` contains the name of a company, not of a network. */
export const hiddenNetwork: Condition = {
  only: ({ value }) =>
    SIGNS.matchesIn(wordsOf(String(value).replace(/\S+@\S+|\w+:\/\/\S+/g, ' '))).has(
      'hidden_network',
    ),
  from: says('hidden_network'),
};

/* Inventories and files. */

const INVENTORY = /^(?:.*\/)?(?:asset|assets|inventory|cmdb)\//;
/** Roles and owners in the inventory that are scanners. */
export const scannerKnown: Condition = {
  only: ({ path }) => INVENTORY.test(path),
  from: byTool(/./, yes(/\bscanner\b/i)),
};
/** Another known machine: a scanner counts only once. */
export const inInventory = ({ path, value }: Fact): boolean =>
  INVENTORY.test(path) && !/\bscanner\b/i.test(String(value));
/** SHA-256 of the 68 bytes of the antivirus test file. No other file has this hash. */
const EICAR = /^275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f$/i;
/** Holds if every file digest is the digest of the test file. */
export const onlyTestFiles: Look = (facts) => {
  const digests = facts
    .ofTools('sha256', 'filesha256', 'sha256string', 'hash', 'filehash')
    .filter(({ value }) => /^[0-9a-f]{64}$/i.test(String(value)));
  return digests.every(({ value }) => EICAR.test(String(value))) ? digests.slice(0, 1) : [];
};
/** In reports of tools, the name of the test file contains words such as `virus`. */
export const isTestFile = ({ key, value }: Fact): boolean =>
  /^(?:threat|threatname|detection|signature)$/.test(key) &&
  /^[\w:./-]{0,40}\beicar\b/i.test(String(value).slice(0, 100));

/* Words of tools. */

const severities = reads(
  /^(?:(?:alert|event|signal|rule|securitysignal)?severity(?:name|label|normalized|level|text|score)?|urgency|priority(?:name|summary)?|(?:rule)?level)$/,
  /^[\w .-]{1,32}$/,
);

/** Monitoring tools call a full disk critical, and code scanners a bad line. These are not attacks. */
const watchesAttacks = (facts: Facts): boolean =>
  facts.ofTools('generatorurl').length === 0 && facts.fields.repository === undefined;
const SEVERITY_WORD = /^(?:critical|high|medium|moderate|low|info\w*)$/i;
/** The severity of the incident, with the tool's severity word if the event has one. */
export const severityIs =
  (severity: 'low' | 'high' | 'critical'): Look =>
  (facts) => {
    if (severity !== 'low' && !watchesAttacks(facts)) return [];
    const told = evaluate(severities, facts);
    const isLow = told.length > 0 && told.every(({ value }) => LOW.test(String(value)));
    if (
      facts.severity !== severity &&
      !(severity === 'low' && facts.severity === 'medium' && isLow)
    )
      return [];
    const word =
      told.find(({ value }) => String(value).toLowerCase() === severity) ??
      told.find(({ value }) => !SEVERITY_WORD.test(String(value)));
    return [
      word ?? {
        ...{ source: 'incident', pointer: '/severity', key: 'severity', path: 'severity' },
        ...{ value: severity, words: `severity: ${severity}` },
      },
    ];
  };
const LOW = /^(?:low|info\w*|notice|debug|minor|none|minimal)$/i;

/** A verdict of the tool, unless its confidence level is only `suspicious`. */
export const stands = (condition: Condition): Condition => ({
  only: ({ key }, facts) =>
    key === 'confidencelevel' ||
    !facts.named('confidencelevel').some(({ value }) => /^suspicious$/i.test(String(value))),
  from: condition,
});
const CALLED =
  'classification verdict threats threattype threattypes threatcategory attacktype attacktypes';
export const called = (pattern: RegExp): Condition => stands(reads(CALLED, pattern));

export const RULE_KEYS =
  'rule rulename title alert alertname alertdisplayname detectname detection signature name';
/* Kinds of events. */

/** Names under which tools describe the event. */
const KIND_KEYS = new Set(
  (
    'title alert alertname alertdisplayname displayname rule rulename ruledescription description event eventname ' +
    'entitytype eventtype eventaction action activity activitytype activitydisplayname operation operationname methodname ' +
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
  only: (fact, facts) => isKind(fact, facts) && !isNegated(fact),
  from: says(sign),
});

/** Excludes quotes and equals signs, after which tools put texts of strangers. */
const PLAIN = /^[\p{L}\p{N}\s.,:;()[\]/%+_*#&|>→–-]{1,200}$/u;
/** Matches an everyday kind of event, in a text of the tool without an alarming word. */
export const ordinaryWork: Condition = {
  only: (fact, facts) =>
    isKind(fact, facts) &&
    isRecord(fact) &&
    PLAIN.test(String(fact.value)) &&
    !facts.saying('grave_word', 'odd_word').some(({ pointer }) => pointer === fact.pointer),
  from: says('ordinary_work'),
};
