import {
  all,
  any,
  byTool,
  calming,
  type Condition,
  type Look,
  reads,
  says,
  yes,
  YES,
} from './conditions.js';
import { explains } from './explanations.js';
import type { Fact } from './facts.js';
import { isParent, requestLikeAttack, webAttackNamed } from './machine-rules.js';
import { senderProven, sentInside } from './mail-rules.js';
import { isRecord } from './tool-rules.js';

const INVENTORY = /^(?:.*\/)?(?:asset|assets|inventory|cmdb)\//;
const scannerKnown: Condition = {
  only: ({ path }) => INVENTORY.test(path),
  from: byTool(/./, yes(/\bscanner\b/i)),
};
/** True for an inventory entry of any other machine. Entries of a scanner already count in `known_scanner`. */
const inInventory = ({ path, value }: Fact): boolean =>
  INVENTORY.test(path) && !/\bscanner\b/i.test(String(value));
/** SHA-256 of the antivirus test file, which has 68 bytes. No other file has this hash. */
const EICAR = /^275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f$/i;
const onlyTestFiles: Look = (facts) => {
  const digests = facts
    .ofTools('sha256', 'filesha256', 'sha256string', 'hash', 'filehash')
    .filter(({ value }) => /^[0-9a-f]{64}$/i.test(String(value)));
  return digests.every(({ value }) => EICAR.test(String(value))) ? digests.slice(0, 1) : [];
};

const stoppedByTool = byTool(
  'action actiontaken disposition remediationstatus detectionstatus',
  /^(?:blocked|quarantined|removed|deleted|prevented|cleaned|remediated|mitigated)$/i,
);
const ROLES =
  /\b(?:\w*scanners?|qualys|nessus|tenable|rapid7|lansweeper|openvas|named location|trusted location|vuln(?:erability)?[-_ ](?:scan\w*|management)|monitoring|management server|admin(?:istration)? workstation|privileged access workstation|domain controller|ci runner|build agent|pen(?:etration)?[- ]?test\w*|red[- ]team|egress|egress gateway|vpn gateway|company vpn|backup|patch(?: management)?|deployment|software distribution|discovery|inventory|jump host|bastion|service desk|help ?desk|corporate|office|company vpn|secure web gateway|security team|security operations|attack simulation|build server|crawler|load test|penetration test)\b/i;
/*
 * The only rules that lower the points. Each rule reads a value of fixed form from a gateway, sensor, directory or
 * record. No rule reads a text that a stranger may have written, and no rule depends on a missing value. The comments
 * explain how an attacker could cause the same fact.
 */

// prettier-ignore
export const CALMING = calming([
  // A person made this decision in the tool. An outsider cannot do this.
  ['tool_dismissed', -110, 'proof', 'place sender lure payment work scan drill finding unwanted tool rating talk',
    'A person dismissed the alert in the tool.',
    any(
      byTool('analystverdict', /^(?:false_?positive|benign)$/i), byTool('verdict', /^(?:false|benign) ?positive$/i),
      byTool('riskstate', /^(?:dismissed|confirmedsafe)$/i),
      byTool('threatstatus userfeedback', /^(?:cleared|false_?positive|not_useful)$/i),
      byTool('determination',
        /^(?:not_?malicious|security_?testing|line_?of_?business_?application|confirmed_?(?:user_?)?activity)$/i),
      byTool('status resolvestatus resolutionstatus resolution closereason workflowreason disposition',
        /^(?:status_\d+_)?(?:resolved[ _-])?(?:false[ _-]?positive|benign[ _-]?positive|security[ _-]?testing|known[ _-]?issue)$/i),
      byTool('classification alertclassification', /^(?:false ?positive|benign ?positive|informational,? ?expected ?activity)$/i),
      { only: isRecord, from: reads('dispositionlabel', /^(?:false|benign) positive\b/i) })],
  ['sample_of_tool', -200, 'proof', 'work scan drill finding tool rating place', 'The tool marks the event as a sample or a test of itself.',
    any(
      byTool('sample issample istest testalert simulated istestevent', YES), byTool('alerttype eventtype', /^test$/i),
      { only: ({ key }) => key === 'title', from: reads('title', /^\[(?:SAMPLE|TEST)\]/) })],
  ['finding_gone', -40, 'proof', 'work scan finding rating tool', 'The tool reports that the weakness is gone, or that the setting is right.',
    { only: (_, { fields, all: facts }) => fields.repository !== undefined || facts.some(({ path }) => /^(?:issue|finding)\/status$|compliance\/status$|securitycontrolid$|vulnerabilities\/|cve|validity$/.test(path)), from: any(byTool('state status workflowstatus', /^(?:fixed|resolved|passed|auto_dismissed|closed|suppressed)$/i), byTool('compliancestatus recordstate', /^(?:passed|archived)$/i), byTool('validity', /^(?:inactive|revoked|invalid|expired)$/i), byTool('action', /^(?:fixed|auto_dismissed|closed_by_user|resolved)$/)) }],
  ['archived_by_rule', -25, 'habit', 'work scan tool rating place', 'The tool archived the finding by a rule, or a person did.',
    byTool('archived isarchived', YES)],
  ['refused_by_policy', -20, 'habit', 'place', 'A policy or missing rights refused it.',
    any(byTool('failurereason reason resultdescription', /\bblocked by (?:conditional access|policy|the policy)|\bblocked due to|\bhas been blocked by\b/i), byTool('errorcode', /^5300[0-4]$|^(?:Client\.)?(?:AccessDenied|UnauthorizedOperation)/),
      { only: ({ path }) => /responsestatus\/code$/.test(path), from: byTool('code', /^40[13]$/) })],
  ['sender_proven', -10, 'who', 'sender',
    'DMARC passed, reported by the gateway. A hijacked mailbox passes, too.', senderProven],
  ['sorted_as_marketing', -25, 'proof', 'sender',
    'The gateway sorts the mail as marketing or a newsletter, and reports no threat.',
    byTool('name rulename rule attacktype gatewaycategory category mailtype',
      /^(?:newsletters?|marketing|gr[ae]y ?mail|promotional?)(?: (?:or|and) (?:newsletters?|marketing|gr[ae]y ?mail))?(?: mails?| messages?)?$/i)],
  // The gateway knows its own exercises. An exercise explains only lures, but no file that runs and no payment.
  ['simulation_on_file', -70, 'proof', 'talk sender lure rating',
    'The mail belongs to a phishing simulation that the gateway knows.',
    any(
      { only: ({ path }) => /(?:^|\/)simulation\w*\//.test(path), from: byTool(/match\w*$|incampaign$/, YES) },
      byTool('allowlist', yes(/\bsimulation|awareness\b/i)), byTool('ipinsimulationlist simulationipmatch issimulation isphishsimulation', YES),
      byTool('policy orglevelpolicy policyoverride overridepolicy override systemoverride primaryoverridesource deliveryrule deliverypolicy', /^(?:advanced delivery: )?(?:third[- ]party )?phish(?:ing)?[- _]?simulation$/i))],
  // An attacker who steals the session after the second factor does not need the factor, and an insider has the factor.
  ['strong_factor', -25, 'who', 'place', 'The second factor resists phishing.',
    byTool(/^(?:\w*mfa\w*|\w*factor(?:type|used)?|\w*auth(?:entication)?(?:method|type|strength|step)?\w*|credential(?:type|provider))$/,
      yes(/^(?:phishing[- ]resistant|passkey|platform authenticator|security key|hardware key|yubikey|web ?authn|fido ?2?|(?:client )?certificate|cba|smart ?card|windows hello|touch ?id|face ?id)\b/i))],
  ['role_activated', -25, 'habit', 'work', 'An administrator activated an own role for some hours.',
    byTool('activitydisplayname operation operationname', /\(PIM activation\)/i)],
  ['cluster_component', -25, 'habit', 'work', 'A component of the cluster itself or of its build system did it.',
    { only: ({ path }) => path === 'outputfields/k8s/ns/name', from: reads('name', /^(?:kube-system|kube-node-lease|calico-system|gitlab-runner|(?:ci|build)s?(?:-\w+)?|tekton-pipelines|actions-runner-system)$/) }],
  // Ransomware is often deployed through device management, so this proves little.
  ['deployed', -15, 'habit', 'work',
    'The program was deployed by the management of the machines.',
    any(
      byTool('deployedby packagedeployedby',
        /^(?:intune|sccm|configuration manager|jamf|group policy|gpo|ansible|puppet)\b/i),
      { only: isParent, from: byTool(/./, /^(?!.*\\(?:users|temp|perflogs)\\)(?:.*[\\/])?(?:ccmexec|intunemanagementextension|agentexecutor|trustedinstaller|tiworker|gpscript|puppet|chef-client|ansible(?:-playbook)?|salt-minion|jamf|pdqdeployrunner\S{0,12}|taniumclient|qualysagent|nessusd?|zabbix_agentd?|veeam\S{0,40}|senseir|mpcmdrun|msmpeng)(?:\.exe)?$/i) })],
  // An announced exercise does not explain every event, because attackers may act during the exercise.
  ['exercise_on_file', -35, 'habit', 'drill work scan', 'An ordered exercise or test covers it.', explains('exercise')],
  // The inventory describes the purpose of a machine. It does not prove that this purpose caused the event.
  ['known_scanner', -50, 'habit', 'scan', 'The inventory knows the source as a scanner.',
    scannerKnown],
  // An attacker gets this name only for a harmless file that contains nothing but the test text.
  ['test_file', -40, 'proof', 'talk tool rating',
    'The tool names the test file of antivirus programs.',
    any(
      byTool('threat threatname detection signature', /^(?:virus:dos\/)?eicar/i),
      onlyTestFiles)],
  ['unwanted_stopped', -25, 'habit', 'unwanted', 'The tool stopped it.',
    any(byTool('quarantinefolder', /^(?:spam|bulk|junk)$/i), all(any(stoppedByTool, byTool('type description', /\bcleaned ?up\b|CleanedUp$/i)), says('unwanted', 'unsolicited')))],
  // The tool chooses the name of the threat, not the attacker. Other signs and the name of a malware still count.
  ['named_unwanted', -60, 'habit', 'tool rating',
    'The tool names unwanted software and no attack, so its verdict says no more.',
    byTool('threat threatname threatfamily detection detectname classification category determination threatcategory malwaretype',
      /^(?!.*(?:trojan|ransom|backdoor|stealer|worm|virus))(?:[\w.:/-]{0,20}\b)?(?:pua|pup|adware|riskware|grayware|(?:potentially[ _-]?)?unwanted(?:[ _-]?software)?)\b/i)],
  ['approved_on_record', -25, 'habit', 'drill work scan rating', 'An approval is on record.', explains('approved')],
  ['change_on_record', -20, 'habit', 'work scan rating',
    'A change or ticket on record covers it.',
    byTool(/^(?:\w*ticket(?:id|number|ref)?|\w*change(?:ticket|record|number|id|request|ref|requestid)?|chg|rfc|workorder|jira|servicenow|itsm\w*)$/,
      yes(/\b(?!INC|SEC|CASE|ALERT)[A-Z]{2,10}[-_ ]?\d{2,}|^approved\b/))],
  ['confirmed_by_people', -25, 'habit', 'work scan drill rating place payment sender lure',
    'The affected person or the owner confirmed it.', explains('confirmed')],
  ['usual_here', -20, 'who', 'work place sender rating',
    'The same event was seen here often before.',
    any(
      explains('usual'),
      byTool(/^(?:same(?!report|text|ip|mail|message|subject|sender|url|file)|identical|repeat|prior|previous|earlier|seenbefore|seen(?:last|in|on)|messagesfrom|sendermessages|messageslast|emailsfrom|occurrences|timesseen|dayssee?n|relationship|correspondence|logins(?:from|last|in)|signins(?:from|last|in)|runs(?:last|in|per))\w*$/,
        { min: 10 }))],
  ['widespread', -20, 'who', 'work',
    'At least 50 machines of the company do the same.',
    byTool(/^(?!\w*scanned)(?:(?:seenon|others?|same\w*|hostswith\w*|hosts|client|clients|devices|machines|endpoints)(?:hosts|count|today|machines|clients|devices)?\w*|prevalence\w*)$/,
      { min: 50 })],
  ['planned', -20, 'habit', 'work scan rating', 'The event was planned for this time.', explains('planned')],
  ['role_of_machine', -20, 'habit', 'work scan rating place',
    'The inventory gives the machine or address a role that explains the event.',
    any(byTool(/^(?:\w*role(?:in\w+)?|\w*ipowner|\w*owner|\w*networklabel|\w*asset(?:tags?|types?|roles?|class|group)?\w*|\w*function|purpose|network|networktype|iptype|ipclass|asorg|hosttype|sourcetype|hostgroup|devicerole|group|labelofip|ipdescription|sourcedescription|tags?|srccategory|sourcenetwork|networkname|segment)$/, yes(ROLES)), { only: inInventory, from: byTool(/./, yes(ROLES)) })],
  ['trip_on_record', -25, 'habit', 'place', 'A trip on record explains the place.', explains('trip')],
  ['matches_record', -25, 'habit', 'payment sender lure', 'The details match the record.',
    any(
      byTool(/^(?:\w*(?:iban|bank|account|order|po|invoice|amount|vendor|link|sendingip|domain)\w*match(?:es)?\w*|\w*matchesmaster|\w*matchesorder|threewaymatch)$/,
      yes(/^(?:true|yes|y|1)$|^(?:PO|SO|ORD)[-_ ]?\d/i)),
      byTool(/iban|bank|account|order|amount/, /^matches (?:the )?(?:master|record|file|order)/i))],
  ['found_clean', -15, 'habit', 'sender work',
    'The tools that looked at it found nothing.',
    byTool(/^(?!.*(?:delivery|analyst|first|initial))(?:\w*verdict|\w*scan(?:result)?|\w*reputation|\w*analysis|sandbox(?:status|result)?|judge?ment)$/,
      /^(?:clean|benign|harmless|good|safe|known good|no ?threats?(?: ?found)?|trusted|not malicious)$/i)],
  ['scored_harmless', -15, 'habit', 'sender',
    'The gateway scored the mail for phishing, malware and impostors, and found next to nothing.',
    all(...['phishscore', 'malwarescore', 'impostorscore'].map((key) => byTool(key, /^\d(?:\.\d+)?$/)))],
  ['bulk_mail', -12, 'habit', 'sender', 'The mail comes from a list that its readers can leave.',
    any(
      byTool(/^(?:\w*listunsubscribe\w*|unsubscribe|bulk|listid|newsletter|isbulk)$/, yes(/^/)),
      byTool(/^(?:gatewaycategory|category|precedence|mailtype|graymail)$/,
        yes(/^(?:bulk|list|marketing|newsletter|graymail|promotional)$/i)),
      byTool('sender envelopefrom returnpath mailfrom', /^(?:b|bnc|bounces?|lists?|mta|return|rp)[-+._=][\w+=.-]*\d[\w+=.-]*@/i))],
  ['sent_by_us', -15, 'habit', 'sender lure', 'The mail did not leave the company.',
    any(
      byTool(/^(?:internal|isinternal|intraorg|direction|senttenant|sentvia|origin|relay)$/,
        yes(/^(?:true|yes|y|1)$|^(?:internal|intra-?org\w*|own tenant|inside)\b/i)),
      sentInside)],
  ['device_of_company', -20, 'who', 'place',
    'The device belongs to the company and is managed.',
    byTool(/^(?:\w*(?:device|laptop|endpoint|phone|client)(?:is)?(?:managed|compliant|trusted|known|registered|enrolled|state|trust|posture|compliance)|(?:is)?(?:known|trusted|managed|compliant)device|(?:is)?(?:managed|compliant|domainjoined|mdmmanaged)|trusttype|joinstate|compliancestate|\w*enrolledinmdm|privilegedworkstation|\w*paw|samedevice|companydevice|companyissued|posture|device)$/,
      yes(/^(?:true|yes|y|1)$|^(?:managed|compliant|healthy|trusted|company[- ]owned|corporate|(?:hybrid )?(?:azure )?ad[- ]?joined|domain[- ]joined)\b/i))],
  ['stopped_at_the_door', -25, 'habit', 'scan',
    'The request was refused before it reached the server.',
    all(
      any(requestLikeAttack, webAttackNamed),
      byTool(/^(?:action|wafaction|disposition|actiontaken)$/, yes(/^(?:block(?:ed)?|den(?:y|ied)|drop(?:ped)?)$/i)))],
  ['installed_by_administrators', -10, 'who', 'work',
    'The program lies where only administrators install programs.',
    { only: (fact) => !isParent(fact), from: byTool(/^(?:\w*(?:image|process|executable|program)\w*|path|filepath)$/,
      /^"?[a-z]:\\(?:Program Files(?: \(x86\))?|Windows\\CCM)\\/i) }],
  ['signed_by_vendor', -12, 'habit', 'work',
    'The program is signed by its vendor.',
    any(
      byTool(/^(?!.*self)(?:\w*signed|\w*signaturestatus|\w*signature(?:valid)?|trusted|codesignature\w*)$/,
        yes(/^(?:true|yes|y|1)$|^(?:valid|trusted|verified)\b/i)),
      byTool(/^(?:\w*signer|codesigner|codesignaturesubjectname|signedby)$/, yes(/^[\p{L}][\p{L}\p{N} .,&()-]{2,60}$/u)))],
]);
