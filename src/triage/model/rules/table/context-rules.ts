import {
  anyOf,
  byTools,
  reading,
  recorded,
  remarked,
  type Rule,
  saysYes,
  together,
} from '../rule.js';
import {
  ADMINISTRATION,
  asUsual,
  counting,
  habit,
  insideOnly,
  isNo,
  isYes,
  longAgo,
  ofRequests,
} from './context-looks.js';

/**
 * What is on record about an event: approvals, confirmations, habits, roles. One such fact can be had by who attacks. Several of different kinds, with no
 * sign left that they do not explain, are what an analyst closes an everyday alert by.
 */
export const CONTEXT_RULES: readonly Rule[] = [
  habit(
    'approved_on_record',
    'decided',
    25,
    [...ADMINISTRATION, 'rights', 'transfer', 'remote', 'request'],
    'Somebody who may decide it has approved it.',
    anyOf(
      recorded(
        /^(?:\w*(?:approv(?:ed|al|er|ers)|authori[sz]ed|sanctioned|allowlisted|whitelisted|allowed)(?:by|status|state|result|on|id|ticket)?|adminconsent|(?:peer)?review(?:edby|status|state|result)|dual(?:approval|control)|foureyes|twopersonrule|actorisautomation|exception\w*|exclusion\w*|contractonfile|orderonfile|bankchangerequest|(?:change|workorder|ticket)(?:status|state|approval)|merged|pullrequest|cab\w*)$/,
        saysYes,
      ),
      remarked(
        /\bapproved (?:change|request|exception|for|until|by|ticket)\b|\breviewed by \w+|\b(?:two[- ]person|four[- ]eyes)\b|\bsigned off by\b|\bcovered by (?:the )?(?:change|ticket|contract|order)\b/i,
      ),
    ),
  ),
  habit(
    'change_on_record',
    'recorded',
    20,
    [...ADMINISTRATION, 'rights', 'transfer', 'remote', 'request'],
    'A change or ticket on record covers it.',
    anyOf(
      recorded(
        /^(?:\w*ticket(?:id|number|ref)?|\w*change(?:ticket|record|number|id|request|ref|requestid)?|chg|rfc|workorder|jira|servicenow|itsm\w*)$/,
        reading(/^(?:[A-Z]{2,8}[-_ ]?\d{3,}|approved\b)/),
        'a number of a ticket',
      ),
      remarked(/\bCHG[-_ ]?\d{3,}/i),
    ),
  ),
  habit(
    'confirmed_by_people',
    'confirmed',
    25,
    [...ADMINISTRATION, 'place', 'rights', 'payment', 'sender', 'guess', 'transfer'],
    'The person whom it is about, or the owner, confirmed or expected it.',
    anyOf(
      remarked(
        /\b(?:user|owner|manager|she|he|team|supplier|vendor|employee|requester|service desk|help ?desk) (?:has |have )?(?:confirms?|confirmed|verified|recogni[sz]ed)\b|\bconfirmed (?:by|with|in person|over the phone|on the phone)\b|\bcall(?:ed)? back\b|\bcalled .{1,40} on the .{0,20}number\b|\bverified (?:by (?:phone|call|badge)|in person)\b|\bas agreed with\b|\bexpected by\b/i,
      ),
      recorded(
        /^(?:(?:user|owner|manager|requester|requestor|caller|employee|supplier|vendor|admin|recipient|analyst|account|sender|hr|helpdesk|travel)\w*(?:confirm|consent|acknowledg|verif)\w*|\w*confirmedby|\w*confirmed|verifiedby\w+|(?:phone)?callback\w*|calledback\w*|verifiedbyphone|verbally\w*|expected(?:by\w+)?|announcedbypost|\w*(?:soc|security)(?:notified|informed|aware)|consent|oldfactorusedtoconfirm|(?:owner|manager|requester|team|admin|hr|supplier|vendor)(?:answer|reply|replied|said|says|statement|response)|identitycheck(?:ed)?|identityproof|proofofidentity)$/,
        saysYes,
      ),
    ),
  ),
  habit(
    'usual_here',
    'usual',
    20,
    // Beacons and guesses repeat themselves as well.
    ['run', 'fetch', 'program', 'files', 'place', 'sender', 'transfer', 'rating'],
    'The same was seen here often before.',
    anyOf(
      recorded(
        /^(?:\w*(?:usual|typical|normal|familiar|routine|recurring|consistentwithbaseline|withinbaseline|matchesbaseline|baselinematch|inbaseline|expectedbehaviou?r|same(?:every|each)\w*|knownpattern|knowngood|knownbenign)(?:for\w+)?|seenbefore|knownprocess|isknown)$/,
        isYes,
      ),
      recorded(
        /^(?:same(?!report|text|ip)|identical|repeat|prior|previous|earlier|seenbefore|seen(?:last|in|on)|messagesfrom|sendermessages|messageslast|emailsfrom|occurrences|timesseen|dayssee?n|relationship|correspondence|logins(?:from|last|in)|signins(?:from|last|in))\w*$/,
        counting(10),
        'at least 10',
      ),
      recorded(
        /^(?:history|frequency|recurrence|pattern|baseline|cadence)$/,
        reading(
          /^(?:once a|every|each|daily|nightly|weekly|monthly|yearly|quarterly|regular|same\b|normal\b|usual\b|within\b|\d+ (?:identical|times))/i,
        ),
        'how often',
      ),
      remarked(
        /\bsame as (?:usual|always|every|before|last)\b|\bonce a (?:week|month|day|year|quarter)\b|\bevery (?:night|day|week|month|(?:mon|tues|wednes|thurs|fri)day|quarter|morning|evening)\b|\b(?:daily|nightly|weekly|monthly|quarterly|yearly|annual) (?:job|run|task|report|backup|check|scan|sync|import|export|mail|since)\b|\bseen (?:\d{2,}|many|hundreds of) times\b|\b\d{2,} identical\b|\b(?:known|in use|used|running|partner|customer|supplier|installed|unchanged) (?:here )?since (?:19|20)\d\d\b/i,
      ),
      asUsual,
    ),
  ),
  habit(
    'widespread',
    'widespread',
    20,
    ['run', 'fetch', 'program', 'calls'],
    'Very many of our machines do the same, as with software of the company.',
    recorded(
      /^(?:(?:seenon|others?|same\w*|hostswith\w*|hosts|client|clients|devices|machines|endpoints)(?:hosts|count|today|machines|clients|devices)?\w*|prevalence\w*)$/,
      counting(50),
      'at least 50',
    ),
  ),
  habit(
    'long_on_record',
    'usual',
    15,
    ['run', 'fetch', 'program', 'calls', 'sender', 'place'],
    'It has been known here for more than half a year.',
    longAgo(
      /^(?:\w*since|\w*firstseen\w*|firstcontactdate|firstseenon|createdinrepo|contractfrom|relationship\w*|\w*knownfor|installedon|domainage|accountage)$/,
    ),
  ),
  habit(
    'old_domain',
    'usual',
    10,
    ['sender', 'fetch', 'calls'],
    'The domain has existed for years.',
    recorded(/^\w*domainage(?:days)?$|^agedays$/, counting(365), 'at least 365'),
  ),
  habit(
    'planned',
    'planned',
    20,
    [...ADMINISTRATION, 'request', 'guess', 'transfer', 'rating'],
    'It was planned for this time.',
    recorded(
      /^(?!.*(?:task|minutes|seconds|hours))(?:schedule[d]?|\w*schedule|\w*scheduled|scheduled\w*|changewindow|\w*maintenance\w*|in\w*window|\w*window|\w*drill\w*|testid|\w*planned\w*|\w*exercise\w*|runid|engagement\w*|scanjob\w*|scanname|scanpolicy|jobname|backupjob)$/,
      (fact) =>
        isYes(fact) || reading(/[a-z]{3}.*\d|\d{4}-\d\d|^(?:dai|week|month|quarter)ly/i)(fact),
      'a plan',
    ),
  ),
  habit(
    'role_of_machine',
    'role',
    20,
    [...ADMINISTRATION, 'request', 'guess', 'transfer', 'place', 'stores'],
    'The inventory knows the machine or address by a task that explains it.',
    anyOf(
      remarked(
        /\b(?:vulnerability|compliance|known(?: internet)?) scanner\b|\bjump (?:host|server)\b|\bisolated (?:lab|network)\b|\b(?:backup|build|patch|deployment|monitoring|management|inventory|scan) (?:server|appliance|agent|job|system)\b|\btest (?:lab|environment|system|tenant)\b/i,
      ),
      recorded(
        /^(?:\w*role(?:in\w+)?|\w*ipowner|\w*owner|\w*networklabel|\w*asset(?:tags?|types?|roles?|class|group)|\w*function|purpose|network|networktype|iptype|ipclass|asorg|hosttype|sourcetype|hostgroup|devicerole|group|labelofip|ipdescription|sourcedescription)$/,
        reading(
          /\b(?:scanner|vuln(?:erability)?[-_ ]scan\w*|monitoring|management server|admin(?:istration)? workstation|privileged access workstation|domain controller|ci runner|build agent|pen(?:etration)?[- ]?test\w*|red[- ]team|egress|egress gateway|vpn gateway|company vpn|backup|patch(?: management)?|deployment|software distribution|discovery|inventory|jump host|bastion|service desk|help ?desk|corporate|office|company vpn|secure web gateway|security team|security operations|attack simulation|build server|crawler|load test|penetration test)\b/i,
        ),
      ),
    ),
  ),
  habit(
    'trip_on_record',
    'planned',
    25,
    ['place'],
    'A journey on record explains the place.',
    recorded(
      /^(?:\w*calendar\w*|(?!impossible|atypical)\w*travel(?!speed|kmh|km|time|hours|minutes|alert|distance)\w*|\w*\btrip\w*|businesstrip|\w*booking\w*|itinerary|onleave|absence|outofoffice|conference|flight\w*)$/,
      saysYes,
    ),
  ),
  habit(
    'matches_record',
    'match',
    25,
    ['payment', 'sender'],
    'What the event says matches what is on file.',
    recorded(
      /^(?:\w*(?:iban|bank|account|order|po|invoice|amount|vendor|link|sendingip|domain)\w*match(?:es)?\w*|\w*matchesmaster|\w*matchesorder|threewaymatch)$/,
      isYes,
    ),
  ),
  habit(
    'found_clean',
    'clean',
    15,
    ['sender', 'program', 'fetch'],
    'The tools that looked at it found nothing.',
    recorded(
      /^(?!.*(?:delivery|analyst|first|initial))(?:\w*verdict|\w*scan(?:result)?|\w*reputation|\w*analysis|sandbox(?:status|result)?|judge?ment)$/,
      ({ value }) =>
        /^(?:clean|benign|harmless|good|safe|known good|no ?threats?(?: ?found)?|trusted|not malicious)$/i.test(
          String(value).trim(),
        ),
      'clean',
    ),
  ),
  habit(
    'scored_harmless',
    'clean',
    15,
    ['sender'],
    'The gateway scored the mail for phishing, malware and impostors, and found next to nothing.',
    together(
      ...['phishscore', 'malwarescore', 'impostorscore'].map((key) =>
        byTools([key], /^\d(?:\.\d+)?$/),
      ),
    ),
  ),
  habit(
    'bulk_mail',
    'bulk',
    12,
    ['sender'],
    'It is a mail of a list that its readers can leave.',
    anyOf(
      recorded(
        /^(?:\w*listunsubscribe\w*|unsubscribe|bulk|listid|newsletter|isbulk)$/,
        saysYes,
        'given',
      ),
      recorded(
        /^(?:gatewaycategory|category|precedence|mailtype|graymail)$/,
        reading(/^(?:bulk|list|marketing|newsletter|graymail|promotional)$/i),
      ),
      // Who sends to lists numbers the address that bounces come back to.
      byTools(
        ['sender', 'envelopefrom', 'returnpath', 'mailfrom'],
        /^(?:b|bnc|bounces?|lists?|mta|return|rp)[-+._=][\w+=.-]*\d[\w+=.-]*@/i,
      ),
    ),
  ),
  habit(
    'answers_us',
    'confirmed',
    12,
    ['sender'],
    'It answers a message of our own.',
    recorded(/^(?:replytoourmessage|inreplytoours|isreplytosent|answerstosent)$/, isYes),
  ),
  habit(
    'sent_by_us',
    'inside',
    15,
    ['sender'],
    'The mail did not leave the company.',
    recorded(
      /^(?:internal|isinternal|intraorg|direction|senttenant|sentvia|origin)$/,
      (fact) => isYes(fact) || reading(/^(?:internal|intra-?org\w*|own tenant|inside)$/i)(fact),
    ),
  ),
  habit(
    'device_of_company',
    'device',
    20,
    ['place', 'rights', 'transfer'],
    'The device belongs to the company and is managed.',
    recorded(
      /^(?:\w*(?:device|laptop|endpoint|phone|client)(?:is)?(?:managed|compliant|trusted|known|registered|enrolled|state|trust|posture|compliance)|(?:is)?(?:known|trusted|managed|compliant)device|(?:is)?(?:managed|compliant|domainjoined|mdmmanaged)|trusttype|joinstate|compliancestate|\w*enrolledinmdm|privilegedworkstation|\w*paw|samedevice|companydevice|companyissued|device)$/,
      (fact) =>
        isYes(fact) ||
        reading(
          /^(?:managed|compliant|healthy|trusted|company[- ]owned|corporate|(?:hybrid )?(?:azure )?ad[- ]?joined|domain[- ]joined)\b/i,
        )(fact),
    ),
  ),
  habit(
    'place_of_company',
    'where',
    20,
    ['place', 'rights'],
    'The address belongs to the company, or is known for this user.',
    anyOf(
      remarked(
        /\b(?:head office|own office|own desk|inside, wired|(?:office|corporate|company|branch) (?:network|lan|wi-?fi|vpn|egress|gateway|proxy)|vpn (?:egress|exit)|home (?:provider|line|network) seen)\b/i,
      ),
      recorded(
        /^(?:(?:is)?(?:corporate|company|office|internal)(?:vpn|network|egress|ip|address|location)|\w*(?:ip|network|location|country|asn|egress)(?:is)?(?:known|trusted|usual|familiar|corporate|expected)|(?:is)?(?:known|trusted|usual|familiar|expected)(?:ip|network|location|country|asn|city)|(?:is)?(?:vpnegress|corporate))$/,
        isYes,
      ),
    ),
  ),
  habit(
    'nothing_odd',
    'usual',
    12,
    ['place', 'sender', 'guess', 'transfer', 'calls', 'rights'],
    'The tool looked for what would be odd and found none of it.',
    recorded(
      /^(?:is|has)?(?:new|unknown|unfamiliar|unusual|anomal|suspicious|malicious|risky|firsttime|firstcontact|firstseen(?!on|at|date)|impossible|mismatch|replytomismatch|lookalike|typosquat|spoof|vtdetections|vtpositives|detections|positives|sensitiveactions|rulescreated|inboxrules|newrules|mailboxrules|filesencrypted|childprocesses|othera(?:lerts|nomalies)|otherfailures|postlogin(?:alerts|anomalies))\w*$/,
      isNo,
      'no, or 0',
    ),
  ),
  habit(
    'came_to_nothing',
    'harmless',
    10,
    ['transfer', 'calls', 'program', 'request', 'files'],
    'Nothing came of it: nothing left, ran or answered.',
    recorded(
      /^(?:(?!\w*tag)\w*(?:egress|external|internet|outbound)\w*|\w*connections(?:established)?|\w*connections|downloads?(?:after)?|executed|persistence|(?!manager|owner|user|agency|requester)\w*reached\w*|\w*opened|successes\w*|interactive|failuresafter\w*|otherdetections|matchesvulnerability|entropychange)$/,
      isNo,
      'no, or 0',
    ),
  ),
  habit(
    'stopped_at_the_door',
    'harmless',
    25,
    ['request'],
    'The request was refused before it reached the server.',
    ofRequests(
      recorded(
        /^(?:action|wafaction|disposition|actiontaken)$/,
        reading(/^(?:block(?:ed)?|den(?:y|ied)|drop(?:ped)?)$/i),
      ),
    ),
  ),
  habit(
    'installed_by_administrators',
    'where',
    10,
    ['program', 'stores', 'calls'],
    'The program lies where only administrators install programs.',
    recorded(
      /^(?:\w*(?:image|process|executable|program)\w*|path|filepath)$/,
      ({ value }) =>
        /^"?[a-z]:\\(?:Program Files(?: \(x86\))?|Windows\\CCM)\\/i.test(String(value)),
      'a folder of programs',
    ),
  ),
  habit(
    'stays_inside',
    'inside',
    10,
    ['transfer', 'calls', 'fetch'],
    'The connection stays within the own network.',
    insideOnly,
  ),
  habit(
    'signed_by_vendor',
    'signed',
    12,
    ['program', 'calls', 'stores'],
    'The program is signed by its vendor.',
    anyOf(
      recorded(
        /^(?:\w*signed|\w*signaturestatus|\w*signature(?:valid)?|trusted|codesignature\w*)$/,
        (fact) => isYes(fact) || reading(/^(?:valid|trusted|verified)\b/i)(fact),
      ),
      recorded(
        /^(?:\w*signer|codesigner|codesignaturesubjectname|signedby)$/,
        reading(/^[\p{L}][\p{L}\p{N} .,&()-]{2,60}$/u),
        'the name of a vendor',
      ),
    ),
  ),
];
