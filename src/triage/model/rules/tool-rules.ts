import {
  any,
  atLeast,
  circumstances,
  type Condition,
  evaluate,
  isTrue,
  type Look,
  reads,
  says,
  signs,
  unless,
} from './conditions.js';
import { isOwnPlace } from '../../evidence/own-places.js';
import { deniedExplanation } from './explanations.js';
import type { Fact, Facts } from './facts.js';
import { flooded } from './hosts.js';
import { inMail } from './mail-rules.js';
import type { Sign } from './signs.js';

const severities = reads(
  /^(?:(?:alert|event|signal|rule|securitysignal)?severity(?:name|label|normalized|level|text|score)?|urgency|priority(?:name|summary)?|(?:rule)?level)$/,
  /^(?!(?:Metadata|Request|RequestResponse)$)[\w .-]{1,32}$/,
);

/** Failures of machines, for which monitoring tools use their highest severities. */
const FAILURE =
  /\b(?:out of memory|oom|(?:not enough|no|low|out of) (?:disk |free |storage )?space|disk (?:is )?(?:almost |nearly )?full|(?:cpu|memory|disk|load|latency|queue|swap)\b.{0,40}\b(?:high|above|over|usage|threshold)|replication lag|crash ?loop\w*|backup (?:job )?(?:\S+ )?(?:finished with |has )?failed|certificate .{0,40}expir\w*|power supply|temperature|link down|(?:vm|virtual machine|node|host) (?:was |is )?(?:down|deallocated|unreachable))\b/i;
export const failuresOf: Look = (facts) => [
  ...facts.ofTools('generatorurl'),
  ...facts.all.filter(
    (fact) =>
      isKind(fact, facts) && isRecord(fact) && FAILURE.test(String(fact.value).slice(0, 200)),
  ),
];
export const watchesMachines = (facts: Facts): boolean => failuresOf(facts).length > 0;
/** False for monitoring tools and code scanners, in which `critical` means a full disk or bad code, not an attack. */
const watchesAttacks = (facts: Facts): boolean =>
  !watchesMachines(facts) &&
  facts.fields.repository === undefined &&
  !facts.all.some(({ key }) => /^vulnerabilit(?:y|ies)id$/.test(key));
const SEVERITY_WORD = /^(?:critical|high|medium|moderate|low|info\w*)$/i;
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

/** Holds for a verdict of the tool, unless its confidence level is only `suspicious`. */
const stands = (condition: Condition): Condition => ({
  only: ({ key }, facts) =>
    key === 'confidencelevel' ||
    !facts.named('confidencelevel').some(({ value }) => /^suspicious$/i.test(String(value))),
  from: condition,
});
const CALLED =
  'classification verdict threats threattype threattypes threatcategory attacktype attacktypes';
const called = (pattern: RegExp): Condition => stands(reads(CALLED, pattern));

export const RULE_KEYS =
  'rule rulename title alert alertname alertdisplayname detectname detection signature name';

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

/** True where a tool writes, and in search results. Search results count only without a sign against the event. */
export const isRecord = ({ path }: Fact): boolean =>
  isOwnPlace(path) || /^result\/[^/]+$/.test(path);

/** Windows names the machine that reports as the subject of a logon. Otherwise the subject acts on the target. */
const LOGON = reads('eventid eventcode winlogeventid code', /^(?:462[45]|4740)$/);
export const isActor = ({ key }: Fact, facts: Facts): boolean => {
  const isLogon = evaluate(LOGON, facts).length > 0;
  if (/^subject/.test(key)) return !isLogon;
  return !/^target/.test(key) || isLogon || facts.named('subjectusername').length === 0;
};

const isNegated = ({ value, words = '' }: Fact): boolean => {
  const [first = ''] = words.split(' ');
  const negated = new RegExp(`\\b(?:no|not|0|without|zero|non)[ -](?:\\w+ ){0,2}${first}`, 'i');
  return negated.test(String(value).slice(0, 500));
};

const told = (sign: Sign): Condition => ({
  only: (fact, facts) => isKind(fact, facts) && !isNegated(fact),
  from: says(sign),
});

/** Acts of one event in their order, as correlation rules and analysts list them. */
const SEQUENCE =
  /\/(?:\w*events|sequence|chain|steps|timeline|actions|stages?|commands|logs?|lines|records|after\w*|then|next\w*|follow\w*|\w*effects|phases?)\/\d+(?:\/[^/]+)?$/i;
const ACT =
  /^(?:e|op|what|name|act|action|activity\w*|event|eventid|eventname|eventtype|operation\w*|type|verb|method\w*|cmd|command\w*|image|detail|msg|message)$/;
/** At least two different acts. Two sign-ins are one act. */
const actsInSequence: Look = (facts) => {
  if (facts.severity === 'low') return [];
  const acts = facts.all.filter(
    ({ pointer, key, value }) =>
      SEQUENCE.test(pointer) &&
      (/\/\d+$/.test(pointer) ? /[a-z]{3}/i.test(String(value)) : ACT.test(key)),
  );
  const byItem = Map.groupBy(acts, ({ pointer }) => pointer.replace(/\/[^/\d]+$/, ''));
  const kinds = new Set([...byItem.values()].map((item) => String(item[0]!.value)));
  return kinds.size > 1 ? acts.slice(0, 2) : [];
};

const DETECTIONS =
  'detections positives detectioncount vtdetections vtpositives malicious enginesdetected';
/** A person may have confirmed that the alert is about unwanted software, which is no attack. */
const unwantedOnly = reads('determination', /^unwanted ?software$/i);
const callsMalware = called(/^(?:malware|trojan|worm|virus|backdoor|rootkit)$/i);
/** Keys under which tools write ATT&CK techniques, or names of detections that contain a technique. */
const TECHNIQUE_NAMES =
  /techni\w*|mitre\w*|attack(?:id|technique)\w*|^(?:detection|detectname|alert|alertname|title|rule|rulename|name|threatname|signature)$/;

// prettier-ignore
export const TOOL_RULES = [...signs([
  ['tool_says_malicious', 45, '', 'tool', '', 'The tool itself calls it malicious.',
    stands(
      reads(/(?:verdict\w*|scanresult|disposition|classification|determination|reputation|maliciouslevel|confidencelevel)$/, /^(?:malicious|known bad|bad\b|confirmed threat)/i))],
  ['tagged_malicious', 45, '', 'finding', '', 'The tool itself marks it as malicious.',
    stands(reads('taggedmalicious ismalicious markedmalicious', /^(?:true|yes)$/i))],
  ['bad_reputation', 35, '', 'finding', '', 'The address has a bad reputation.',
    any(
      reads(/reputation$/, /^(?:malicious|phish|malware|known bad|bad\b)/i),
      atLeast(10, /tenantsreporting$|abusereports$|abuseconfidencescore$/))],
  ['tool_confirms', 50, '', '', '', 'A person confirmed the attack in the tool.',
    any(
      reads('riskstate riskdetail', /^(?:confirmed|adminconfirmed\w*)compromised$/i),
      unless(unwantedOnly, reads('classification analystverdict alertclassification', /^true[ _]?positive$/i)))],
  // Under `category`, only the spelling of gateways counts: people who report mails choose the category "phishing".
  ['called_phish', 45, 'phishing', 'tool', 'T1566',
    'The gateway calls the mail or its link phishing.',
    any(
      called(/^(?:high ?conf(?:idence)? ?)?(?:credential )?phish(?:ing)?$|^toad$/i),
      stands(reads('category', /^(?:high ?conf(?:idence)? ?)?phish$|^phishing & fraud$/i)))],
  ['called_impostor', 45, 'bec', 'tool', 'T1566 T1684.001',
    'The gateway calls the sender an impostor.',
    called(/^(?:impostor|bec(?:\/fraud)?|business email compromise)$/i)],
  ['called_malware_in_mail', 45, 'malware_delivery', 'tool', 'T1566.001',
    'The gateway found malware in the mail or behind its link.', inMail(callsMalware)],
  ['called_malware', 35, 'malware', 'tool', '', 'The tool classifies it as malware.', callsMalware],
  ['called_spam', 30, 'spam', 'unwanted', '', 'The gateway calls the mail spam.', called(/^spam$/i)],
  ['kind_named', 25, 'malware', 'tool', '',
    'The alert is of a kind that the tool raises for malware.',
    reads('category categories blockedcategories threatcategories urlcategory tactic', /^(?:malware|command[ -]?and[ -]?control)$/i)],
  ['rule_names_phish', 30, 'phishing', 'tool', 'T1566',
    'The rule that fired looks for phishing or impersonation.',
    reads(RULE_KEYS,
      /^(?!.*\b(?:report\w*|simulat\w*|training|test)\b)(?:credential )?phish(?:ing)?\b|^(?!.*\btest\b)(?:vip|executive|ceo|brand|vendor|employee) impersonation\b/i)],
  ['tool_names_technique', 20, 'malware', 'tool', '',
    'The tool names a technique that only attackers use.',
    reads(TECHNIQUE_NAMES, /\b(?:T1003(?:\.\d{3})?|T1055(?:\.\d{3})?|T1207|T1558(?:\.\d{3})?|T1550(?:\.00[23])?|T1505\.003|T1562\.001|T1070\.001|T1219|T1611|T1485|T1561(?:\.\d{3})?)\b|\b(?:OS Credential Dumping|Process Injection|DCSync|Web Shell|Disable or Modify Tools|Clear Windows Event Logs|Pass the (?:Hash|Ticket)|Escape to Host|Data Destruction)\b/i)],
  ['tool_names_ransomware', 35, 'ransomware', 'tool', 'T1486',
    'The tool names a technique of ransomware.',
    reads(TECHNIQUE_NAMES, /\bT1486\b|\bT1490\b|\bData Encrypted for Impact\b|\bInhibit System Recovery\b/i)],
  ['tool_names_theft', 30, 'data_exfiltration', 'tool', 'T1567',
    'The tool names a technique of data theft.',
    reads(TECHNIQUE_NAMES, /\bT1(?:567|048|041|537)(?:\.\d{3})?\b|\bExfiltration Over\b|\bTransfer Data to Cloud Account\b/i)],
  ['tool_sees_attack', 30, '', 'finding', '', 'The tool speaks of an attacker at work.',
    says('attacker_seen')],
  ['attack_named', 30, '', 'tool', 'T1566', 'The gateway names the kind of attack.',
    { only: ({ key }) => /^attack(?:type|strategy)$/.test(key), from: says('grave_word') }],
  ['engines_detect', 45, '', 'finding', '', 'At least 8 engines detect the file.', atLeast(8, DETECTIONS)],
  ['acts_in_sequence', 18, '', 'work', '', 'The event is a sequence of acts, as an intruder leaves.', actsInSequence],
  ['flooded', 45, '', '', '', 'A text has thousands of addresses, among which one can hide.',
    flooded],
  ['too_much_to_read', 30, '', '', '',
    'The event has more values than the rules read.',
    (facts) => (facts.cut ? facts.all.slice(0, 1) : [])],
  ['invisible_text', 15, '', '', '', 'A text has invisible characters.', (facts) => facts.withInvisible],
]), ...circumstances([
  ['grave_word', 12, '', 'rating', '', 'The tool speaks of an attack.', told('grave_word')],
  ['odd_word', 4, '', 'rating', '', 'The tool reports something unusual.', told('odd_word')],
  ['tool_says_critical', 20, '', 'rating', '', 'The tool rates the event as critical.',
    severityIs('critical')],
  ['tool_says_high', 12, '', 'rating', '', 'The tool rates the event as high.', severityIs('high')],
  ['tool_suspects', 30, '', 'rating', '', 'The tool only suspects an attack.',
    any(reads('confidencelevel verdict threatverdict', /^suspicious$/i), isTrue('issuspicious'))],
  ['attack_type', 20, '', 'finding', '', 'The cloud names a type of attack.',
    reads('type findingtype title detectiontype',
      /^(?:Backdoor|Trojan|CryptoCurrency|UnauthorizedAccess|CredentialAccess|Impact|PrivilegeEscalation|Stealth|DefenseEvasion|Exfiltration|Execution|Persistence):\w+\//)],
  ['high_risk', 15, '', 'finding', '', 'The tool rates the risk as high.',
    any(
      isTrue('threatsuspected'),
      reads('risk risklevel riskstate risklevelduringsignin threatlevel',
        /^(?:high|critical|severe|atrisk)$|\blevel=high\b/i),
      reads('threatdetections', /":\s?"high"/i),
      atLeast(80, /(?:risk|threat|fraud|anomaly|phish|phishing|malware|malicious\w*|impostor|bec|mlmalware)score$/))],
  ['orders_a_verdict', 10, '', 'talk', '', 'A text tells its reader which verdict to give.', says('verdict_order')],
  ['talks_to_machines', 10, '', 'talk', '', 'A text talks to the machine that reads it.', says('orders_to_machine')],
  ['not_explained', 8, '', '', '', 'What should explain the event is missing or denied.', deniedExplanation],
  ['never_before', 10, '', '', '', 'The tool saw this for the first time.',
    any(
      reads(/^(?!exploit|malware|threat|\w*(?:(?:mfa|factor)used$|first|never|newly|atypical|un(?:usual|familiar|known|expected)))(?:\w*(?:seen|used|known|contacted|observed|loggedon)(?:before|previously|here|inorg|fortenant)?|(?:\w*(?:usual|familiar|typical|expected)(?:for\w+)?|usual(?:ip|device|network|host))|previously\w*)$/,
        /^(?:false|no|never|never (?:seen|used|before)\b.*|first time\b.*|none)$/i),
      reads(/^(?:(?:sender|domain|address|vendor|supplier|contact|partner)known\w*|known(?!bad|mal|expl|vuln|ransom|threat|ioc|attack|issue|compromis)\w*|relationship|correspondence|(?!\w*first)\w*contact)$/,
        /^(?:false|no|unknown|none|first\b.*|no (?:earlier|previous|prior|known)\b.*)$/i),
      reads(/^(?:\w*new(?:for|to)\w+|\w*firstseen(?:inorg|here|today)?|\w*history|first(?:use|time|ever)\w*|\w*(?:rare|unusual|anomalous|unfamiliar|neverseen)\w*|new(?:ip|asn|geo|city|isp|sender|host|country|device|location|process|domain|useragent)\w*)$/, /^(?:true|yes|today|never\b.*|first time\b.*|none|new|rare)$/i))],
])];
