import type { Fact } from '../fact.js';
import type { Facts } from '../facts.js';
import {
  answered,
  anyOf,
  byTools,
  isTrue,
  type Look,
  reads,
  type Rule,
  says,
  told,
  keys,
} from '../rule.js';
import { isMail } from './mail-looks.js';

const TOOL = { group: 'generic' } as const;

/** Words of one scale. Numbers, and words as `P1` that each tool counts in its own way, are in none of them. */
const SEVERITY_WORDS = {
  critical: /^(?:critical|crit|fatal|emergency|very[ _-]?high|highest)$/i,
  high: /^(?:high|major|important)$/i,
  lower: /^(?:medium|moderate|average|low|minor|warning|info|informational|none)$/i,
} as const;
const severities = answered(
  /^(?:(?:alert|event|signal|rule|securitysignal)?severity(?:name|label|normalized|level|text|score)?|urgency|priority(?:name|summary)?|(?:rule)?level)$/,
  ({ value }) => /^[\w .-]{1,32}$/.test(String(value)),
  'a word or number',
);

/** A tool that watches whether services run calls a full disk critical, and one that reads code a bad line: these are no attacks. */
const watchesNoAttacks = (facts: Facts): boolean =>
  facts.ofTools('generatorurl').length > 0 || facts.fields.repository !== undefined;

/**
 * The severity of the event in the tool's word, where the source reads it as this one. A tool often has several: a word that says
 * another severity is not the one that was read.
 */
function severityIn(facts: Facts, severity: 'high' | 'critical'): Fact | undefined {
  if (facts.severity !== severity) return undefined;
  const told = severities.find(facts);
  const isWord = (pattern: RegExp) => (fact: Fact) => pattern.test(String(fact.value).trim());
  const known = Object.values(SEVERITY_WORDS).map(isWord);
  return (
    told.find(isWord(SEVERITY_WORDS[severity])) ??
    told.find((fact) => !known.some((says) => says(fact)))
  );
}

const severityIs = (severity: 'high' | 'critical'): Look => ({
  at: `severities that are read as ${severity}, of tools that watch for attacks: ${severities.at}`,
  find: (facts) => {
    const told = watchesNoAttacks(facts) ? undefined : severityIn(facts, severity);
    return told ? [told] : [];
  },
});

/** What the tool says of the same thing beside its word, by which it takes the word back. */
const TAKEN_BACK: Readonly<Record<string, RegExp>> = {
  threatstatus: /^(?:cleared|false ?positive)$/i,
  confidencelevel: /^suspicious$/i,
  analystverdict: /^(?:false_?positive|benign)$/i,
};

const ownerOf = ({ pointer }: Fact): string => pointer.slice(0, pointer.lastIndexOf('/'));

/** A word of the tool, unless it takes it back right beside it. */
const stands = (look: Look): Look => ({
  at: `${look.at}, without ${Object.keys(TAKEN_BACK).join(', ')} that take it back`,
  find: (facts) => {
    const found = look.find(facts);
    if (found.length === 0) return found;
    const takenBack = new Set(
      Object.entries(TAKEN_BACK).flatMap(([key, pattern]) =>
        facts
          .named(key)
          .filter(({ value }) => pattern.test(String(value)))
          .map(ownerOf),
      ),
    );
    return found.filter((fact) => fact.key in TAKEN_BACK || !takenBack.has(ownerOf(fact)));
  },
});

const CLASS_KEYS = keys(`classification verdict threats threatcategory attacktypes`);
const called = (pattern: RegExp): Look => stands(reads(CLASS_KEYS, pattern));

const inMail = (look: Look): Look => ({
  at: `${look.at}, of a mail`,
  find: (facts) => (facts.isMail || isMail.find(facts).length > 0 ? look.find(facts) : []),
});
const callsMalware = called(/^(?:malware|trojan|worm|virus|backdoor|rootkit)$/i);

const RULE_KEYS = keys(`
  rule rulename title alert alertname alertdisplayname detectname detection signature name`);

/** What only announces, reports or trains it: a rule of this name has seen no attack. */
const NO_ATTACK =
  'report\\w*|simulat\\w*|training|test\\w*|exercise|drill|table-?top|updated?|risk of|potential|possible';
/** Rules of these names, where the source reads the severity as high or critical. */
function rated(pattern: RegExp): Look {
  const named = reads(
    [...RULE_KEYS, 'description'],
    new RegExp(`^(?!.*\\b(?:${NO_ATTACK})\\b).{0,200}?(?:${pattern.source})`, 'i'),
  );
  return {
    at: `${named.at}, of high or critical severity`,
    find: (facts) => {
      const severity = severityIn(facts, 'critical') ?? severityIn(facts, 'high');
      return severity ? named.find(facts) : [];
    },
  };
}
const TAKEOVERS =
  /\b(?:account|user|identity|root|admin\w*|mailbox|session|credentials?) (?:was |were |is |has been )?(?:takeover|taken over|compromised?|hijack(?:ed|ing)?)\b|\b(?:compromised|hijacked|stolen) (?:account|user|identity|credentials?|session|mailbox)\b|\broot (?:account|user|credentials?)\b.{0,40}\b(?:log(?:in|ged in)|sign(?:ed)?[- ]in|used|access)\b/;

/** What a tool says of an event in one word of its own: how bad it is, what it is, and whether that is certain. */
export const TOOL_WORD_RULES: readonly Rule[] = [
  {
    ...TOOL,
    name: 'tool_says_critical',
    points: 30,
    explanation: 'The tool rates the event as critical.',
    look: severityIs('critical'),
  },
  {
    ...TOOL,
    name: 'tool_says_high',
    points: 8,
    explanation: 'The tool rates the event as high.',
    look: severityIs('high'),
  },
  {
    ...TOOL,
    name: 'tool_says_malicious',
    points: 45,
    explanation: 'The tool itself calls it malicious.',
    look: stands(
      told(
        /(?:verdict\w*|disposition|classification|determination|reputation|maliciouslevel|confidencelevel)$/,
        /^(?:malicious|known bad|bad\b|confirmed threat)/i,
      ),
    ),
  },
  {
    ...TOOL,
    name: 'tagged_malicious',
    points: 45,
    explanation: 'The tool itself marks it as malicious.',
    look: stands(reads(keys(`taggedmalicious ismalicious markedmalicious`), /^(?:true|yes)$/i)),
  },
  {
    ...TOOL,
    name: 'bad_reputation',
    points: 35,
    explanation: 'The address has a bad reputation.',
    look: reads(
      ['reputation', 'ipreputation', 'domainreputation'],
      /^(?:malicious|phish|malware|known bad|bad\b)/i,
    ),
  },
  {
    ...TOOL,
    name: 'tool_suspects',
    points: 30,
    explanation: 'The tool itself suspects it, and is not sure.',
    look: reads(['confidencelevel', 'verdict', 'threatverdict'], /^suspicious$/i),
  },
  {
    ...TOOL,
    name: 'tool_confirms',
    points: 50,
    explanation: 'Somebody confirmed the attack in the tool.',
    look: anyOf(
      reads(['riskstate', 'riskdetail'], /^(?:confirmed|adminconfirmed\w*)compromised$/i),
      reads(['classification', 'analystverdict', 'alertclassification'], /^true[ _]?positive$/i),
    ),
  },
  {
    ...TOOL,
    name: 'called_phish',
    points: 45,
    explanation: 'The gateway calls the mail or its link phishing.',
    // As a category the word is the gateway's own only where it is spelled as gateways do: people who report mails choose "phishing".
    look: anyOf(
      called(/^(?:high ?conf(?:idence)? ?)?(?:credential )?phish(?:ing)?$|^toad$/i),
      stands(reads(['category'], /^(?:high ?conf(?:idence)? ?)?phish$/i)),
    ),
    category: 'phishing',
    mitre: ['T1566'],
  },
  {
    ...TOOL,
    name: 'called_impostor',
    points: 45,
    explanation: 'The gateway says that the sender poses as somebody else.',
    look: called(/^(?:impostor|bec(?:\/fraud)?|business email compromise)$/i),
    category: 'bec',
    mitre: ['T1566', 'T1656'],
  },
  {
    ...TOOL,
    name: 'called_malware_in_mail',
    points: 45,
    explanation: 'The gateway found malware in the mail or behind its link.',
    look: inMail(callsMalware),
    category: 'malware_delivery',
    mitre: ['T1566.001'],
  },
  {
    ...TOOL,
    name: 'called_malware',
    points: 35,
    explanation: 'The tool classifies it as malware.',
    look: callsMalware,
    category: 'malware',
  },
  {
    ...TOOL,
    name: 'called_ransomware',
    points: 50,
    explanation: 'The tool classifies it as ransomware.',
    look: stands(reads([...CLASS_KEYS, 'category'], /^ransomware$/i)),
    category: 'ransomware',
    mitre: ['T1486'],
  },
  {
    ...TOOL,
    name: 'called_spam',
    points: 30,
    explanation: 'The gateway calls the mail spam.',
    look: called(/^spam$/i),
    category: 'spam',
  },
  {
    ...TOOL,
    name: 'kind_named',
    points: 25,
    explanation: 'The alert is of a kind that the tool raises for malware.',
    look: reads(['category', 'tactic'], /^malware$/i),
    category: 'malware',
  },
  {
    ...TOOL,
    name: 'rule_names_phish',
    points: 30,
    explanation: 'The rule that fired looks for phishing or impersonation.',
    look: reads(
      RULE_KEYS,
      /^(?!.*\b(?:report\w*|simulat\w*|training|test)\b)(?:credential )?phish(?:ing)?\b|^(?!.*\btest\b)(?:vip|executive|ceo|brand|vendor|employee) impersonation\b/i,
    ),
    category: 'phishing',
    mitre: ['T1566'],
  },
  {
    ...TOOL,
    name: 'rated_ransomware',
    points: 20,
    explanation: 'The rule that fired looks for ransomware, and rates it as grave.',
    look: rated(/\bransomware\b|\b(?:mass|file) encryption\b/),
    category: 'ransomware',
    mitre: ['T1486'],
  },
  {
    ...TOOL,
    name: 'rated_takeover',
    points: 20,
    explanation:
      'The rule that fired looks for accounts that were taken over, and rates it as grave.',
    look: rated(TAKEOVERS),
    category: 'account_takeover',
    mitre: ['T1078'],
  },
  {
    ...TOOL,
    name: 'threat_suspected',
    points: 20,
    explanation: 'The directory suspects a threat behind the request.',
    look: isTrue('threatsuspected'),
    category: 'account_takeover',
    mitre: ['T1078'],
  },
  {
    ...TOOL,
    name: 'behaviour_new',
    points: 10,
    explanation: 'The directory sees a place, address or device that is new for this user.',
    look: reads(['behaviors'], /\b(?:new [\w -]{1,24}|velocity)=positive/i),
    category: 'account_takeover',
    mitre: ['T1078'],
  },
  {
    ...TOOL,
    name: 'attack_type',
    points: 20,
    explanation: 'The cloud names a type of attack.',
    look: reads(
      keys(`type findingtype title detectiontype`),
      /^(?:Backdoor|Trojan|CryptoCurrency|UnauthorizedAccess|CredentialAccess|Impact|PrivilegeEscalation|Stealth|DefenseEvasion|Exfiltration|Execution|Persistence):\w+\//,
    ),
  },
  {
    ...TOOL,
    name: 'tool_sees_attack',
    points: 30,
    explanation: 'The tool speaks of an attacker at work.',
    look: says('attacker_seen'),
  },
  {
    ...TOOL,
    name: 'tool_dismissed',
    // A person decided it in the tool. Nobody outside of the tool can do so.
    points: -110,
    calms: ['talk', 'tool', 'rating'],
    proof: true,
    explanation: 'Somebody has already dismissed it in the tool.',
    look: anyOf(
      byTools(['analystverdict'], /^(?:false_?positive|benign)$/i),
      byTools(['riskstate'], /^(?:dismissed|confirmedsafe)$/i),
      byTools(['threatstatus'], /^(?:cleared|false_?positive)$/i),
      byTools(
        ['determination'],
        /^(?:not_?malicious|security_?testing|line_?of_?business_?application|confirmed_?(?:user_?)?activity)$/i,
      ),
      byTools(
        keys(
          `status resolvestatus resolutionstatus resolution closereason workflowreason disposition`,
        ),
        /^(?:resolved[ _-])?(?:false[ _-]?positive|benign[ _-]?positive|security[ _-]?testing|known[ _-]?issue)$/i,
      ),
      byTools(
        ['classification', 'alertclassification'],
        /^(?:false ?positive|benign ?positive|informational,? ?expected ?activity)$/i,
      ),
    ),
  },
];
