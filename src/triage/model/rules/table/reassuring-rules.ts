import type { Fact } from '../fact.js';
import { requestLetThrough, requestsLike } from '../requests.js';
import {
  anyOf,
  byTools,
  byToolsAtLeast,
  type Look,
  reading,
  reads,
  recorded,
  type Rule,
  together,
  keys,
} from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;
const YES = /^(?:true|yes)$/i;
const NO = /^(?:false|no|0)$/i;

/** A managed telephone says nothing about the message that it shows: only a sign-in is made better by its device. */
const signIn = reads(
  keys(`
    mfa factor country city geo signin login ips outcome authenticationrequirement`),
  /\S/,
);

const stoppedByTool = byTools(
  ['action', 'actiontaken', 'disposition'],
  /^(?:blocked|quarantined|removed|deleted|prevented)$/i,
);
/** SHA-256 of the 68 bytes of the test file of antivirus programs. No other file has it. */
const EICAR = /^275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f$/i;
const SHA_256 = /^[0-9a-f]{64}$/i;

const SCANNER_PATH = /^(?:.*\/)?(?:asset|assets|inventory|cmdb)\//;
/** Roles and owners that the inventory gives to the source of the event, by its address. */
const scannerIsSource: Look = {
  at: 'scanners of the inventory under the address of the source',
  find: (facts) => {
    const sources = new Set(
      facts.ofTools('srcip', 'src', 'sourceip', 'clientip').map(({ value }) => String(value)),
    );
    return facts.allOfTools.filter(
      ({ path, pointer, value }) =>
        SCANNER_PATH.test(path) &&
        pointer.split('/').some((step) => sources.has(step)) &&
        /\bscanner\b/i.test(String(value).slice(0, 200)),
    );
  },
};

const SCANNER =
  /^(?:(?:authori[sz]ed|approved|internal)[-_ ])?(?:(?:vulnerability|security)[-_ ])?scanner$/i;
const sourceInside = byTools(
  keys(`ip ipaddress srcip sourceip clientip`),
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]{3,11}$/,
);
/** A tag of an asset may be that of the target: then the scanner is what a stranger scans, so the source has to be inside. */
const taggedSource = anyOf(
  byTools(['srcrole', 'sourcerole'], SCANNER),
  {
    at: 'the role of srcasset or sourceasset',
    find: (facts) =>
      byTools(['role', 'type'], SCANNER)
        .find(facts)
        .filter(({ path }) => /(?:^|\/)(?:src|source)asset\//.test(path)),
  },
  together(byTools(['assettag', 'assetrole', 'assettype'], SCANNER), sourceInside),
);

/**
 * What calms events on machines, accounts and networks. What `REASSURING_MAIL_RULES` says of texts holds here, too. Few of them are
 * a proof: most can be had by who attacks, and a comment says how.
 */
export const REASSURING_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'strong_factor',
    kind: 'factor',
    // Who steals the session after the factor was given has no need of it, and insiders give their own.
    points: -25,
    calms: ['place'],
    explanation: 'The second factor is one that cannot be passed on.',
    look: recorded(
      /^(?:\w*mfa\w*|\w*factor(?:type|used)?|\w*auth(?:entication)?(?:method|type|strength|step)?\w*|credential(?:type|provider))$/,
      reading(
        /^(?:phishing[- ]resistant|passkey|platform authenticator|security key|hardware key|yubikey|web ?authn|fido ?2?|(?:client )?certificate|cba|smart ?card|windows hello|touch ?id|face ?id)\b/i,
      ),
      'a factor that cannot be passed on',
    ),
  },
  {
    ...REASSURING,
    name: 'deployed',
    kind: 'decided',
    // Who took over the management of machines deploys by it: ransomware often comes so.
    points: -15,
    calms: ['run', 'fetch', 'program', 'stores'],
    explanation: 'The program was deployed by the management of the machines.',
    look: anyOf(
      byTools(
        ['deployedby', 'packagedeployedby'],
        /^(?:intune|sccm|configuration manager|jamf|group policy|gpo|ansible|puppet)\b/i,
      ),
      byTools(
        [
          ...keys(`parent parentimage parentimagefilename parentprocess parentname`),
          ...keys(`
            parentprocessname initiatingprocessfilename parentexecutable pname`),
        ],
        /(?:^|[\\/])(?:ccmexec|intunemanagementextension|agentexecutor|trustedinstaller|tiworker|gpscript|puppet|chef-client|ansible(?:-playbook)?|salt-minion|jamf|pdqdeployrunner\S{0,12}|taniumclient|qualysagent|nessusd?|zabbix_agentd?|veeam\S{0,40}|senseir|mpcmdrun|msmpeng)(?:\.exe)?$/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'seen_everywhere',
    kind: 'usual',
    // Only of sign-ins. A worm is on many machines and a wave of mails has many readers: there, many is worse.
    points: -30,
    calms: ['place'],
    explanation:
      'Very many people sign in from the same pair of places today, as behind one gateway.',
    look: byToolsAtLeast(50, 'userswithsamepairtoday'),
  },
  {
    ...REASSURING,
    name: 'exercise_on_file',
    kind: 'planned',
    // An exercise is announced, and others attack meanwhile: it does not explain this very event.
    points: -35,
    calms: ['run', 'request', 'guess'],
    explanation: 'Rules of engagement on file cover it.',
    look: byTools(['id', 'roeid'], /^ROE-\d{4}/),
  },
  {
    ...REASSURING,
    name: 'known_contact',
    kind: 'who',
    // A mailbox that was taken over is known as well.
    points: -8,
    calms: ['sender'],
    explanation: 'The sender has written here before.',
    look: anyOf(
      byTools(['firstcontact', 'firsttimesender', 'newsender'], NO),
      byTools(['knownsender', 'senderknown'], YES),
    ),
  },
  {
    ...REASSURING,
    name: 'known_scanner',
    kind: 'role',
    // It says what one machine is for, and not that this event is its work.
    points: -50,
    calms: ['request', 'guess'],
    explanation: 'The inventory knows the source as a scanner.',
    look: {
      at: 'roles and owners below asset, assets, inventory or cmdb that are scanners',
      find: (facts) =>
        facts.allOfTools.filter(
          ({ path, value }) =>
            /^(?:.*\/)?(?:asset|assets|inventory|cmdb)\//.test(path) &&
            typeof value === 'string' &&
            /\bscanner\b/i.test(value.slice(0, 200)),
        ),
    },
  },
  {
    ...REASSURING,
    name: 'scanner_scans',
    // As much as `attack_in_request` gives and no more: what a request says must not make an event better.
    points: -35,
    calms: ['talk', 'request', 'rating'],
    proof: true,
    explanation: 'Requests like attacks are what the scanner of the inventory is there to send.',
    look: together(scannerIsSource, requestsLike),
  },
  {
    ...REASSURING,
    name: 'scan_let_through',
    points: -12,
    calms: ['request', 'rating'],
    proof: true,
    explanation: 'Nobody stops the scanner of the inventory, as it should be.',
    look: together(scannerIsSource, requestLetThrough),
  },
  {
    ...REASSURING,
    name: 'tagged_scanner',
    points: -30,
    calms: ['talk', 'request', 'rating'],
    proof: true,
    explanation: 'A machine that the inventory marks as a scanner scans.',
    look: together(
      taggedSource,
      byTools(
        keys(`signature rule rulename alert alertname title event`),
        /\b(?:nmap|nessus|qualys|openvas|scans?|scanning|(?:port )?sweep)\b/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'nothing_new',
    // Whoever signs in from elsewhere or with another device is new in one of them.
    points: -20,
    calms: ['talk', 'place'],
    proof: true,
    explanation:
      'The directory compared address, device and place with earlier ones, and none is new.',
    look: {
      at: 'behaviors in debugdata that are all negative, and a low risk beside them',
      find: (facts) => {
        const judged = facts
          .named('behaviors', 'risk')
          .filter(({ path }) => /^(?:data\/events\/)?debugcontext\/debugdata\/\w+$/.test(path));
        const isCalm = ({ key, value }: Fact): boolean =>
          key === 'risk'
            ? /^\{level=LOW\}$/.test(String(value))
            : /^\{New[\w =,-]{1,300}\}$/.test(String(value)) &&
              !/POSITIVE|UNKNOWN/.test(String(value));
        // What is done after the sign-in is another matter.
        const isStart = facts
          .named('eventtype')
          .some(({ value }) => value === 'user.session.start');
        return isStart && judged.length === 2 && judged.every(isCalm) ? judged : [];
      },
    },
  },
  {
    ...REASSURING,
    name: 'test_window',
    kind: 'planned',
    // As with an exercise: a window is a time, and others attack within it.
    points: -25,
    calms: ['run', 'request', 'guess'],
    explanation: 'It happened within the window of a penetration test on file.',
    look: byTools(keys(`pentestwindow inpentestwindow inpentestscope scheduledpentest`), YES),
  },
  {
    ...REASSURING,
    name: 'factor_given',
    kind: 'factor',
    points: -6,
    calms: ['place'],
    explanation: 'A second factor was given. Some kinds of it can be stolen, too.',
    look: together(
      byTools(
        ['mfa', 'mfaresult', 'mfastatus'],
        /^(?:passed|success(?:ful)?|satisfied|completed)$/i,
      ),
      byTools(['result', 'outcome', 'status'], /^success(?:ful)?$/i),
    ),
  },
  {
    ...REASSURING,
    name: 'address_inside',
    kind: 'where',
    points: -8,
    calms: ['place'],
    explanation: 'The sign-in came from an address inside.',
    look: together(sourceInside, signIn),
  },
  {
    ...REASSURING,
    name: 'mistyped',
    kind: 'usual',
    points: -8,
    calms: ['guess', 'place'],
    explanation: 'A few failures, as of a mistyped password, and then a success.',
    look: together(
      byTools(keys(`failedattempts failures failurecount failcount`), /^[1-5]$/),
      byTools(['result', 'outcome', 'status'], /^success(?:ful)?$/i),
    ),
  },
  {
    ...REASSURING,
    name: 'test_file',
    // Of a harmless file only: the tool names it so when nothing else is in it.
    points: -40,
    calms: ['talk', 'tool', 'rating'],
    proof: true,
    explanation: 'The tool names the test file of antivirus programs.',
    look: anyOf(byTools(keys(`threat threatname detection signature`), /^eicar/i), {
      at: 'digests of files, where all are that of the test file',
      find: (facts) => {
        const digests = facts
          .ofTools('sha256', 'filesha256', 'sha256string', 'hash', 'filehash')
          .filter(({ value }) => SHA_256.test(String(value)));
        return digests.every(({ value }) => EICAR.test(String(value))) ? digests.slice(0, 1) : [];
      },
    }),
  },
  {
    ...REASSURING,
    name: 'unwanted_stopped',
    kind: 'harmless',
    points: -15,
    calms: ['unwanted'],
    explanation: 'The tool stopped it.',
    look: {
      at: 'what the tool did about unwanted software',
      find: (facts) => (facts.saying('unwanted').length > 0 ? stoppedByTool.find(facts) : []),
    },
  },
  {
    ...REASSURING,
    name: 'expired_service_password',
    kind: 'usual',
    // The directory checks the password before it says that it is expired: who guesses gets another answer. Whoever stole an
    // old password gets this one, so it proves nothing.
    points: -80,
    calms: ['guess'],
    explanation: 'A service inside still uses its expired password.',
    look: together(
      byTools(
        ['reason', 'failurereason', 'substatusreason'],
        /^(?:the )?password (?:is |has )?expired$/i,
      ),
      byTools(['accountisservice', 'isserviceaccount', 'serviceaccount'], YES),
      sourceInside,
    ),
  },
  {
    ...REASSURING,
    name: 'named_unwanted',
    kind: 'harmless',
    // The tool's name of the threat is not the attacker's to choose. What else was seen still counts, and so does a name of malware.
    points: -60,
    calms: ['tool', 'rating'],
    explanation: 'The tool names unwanted software and no attack, so its verdict says no more.',
    look: byTools(
      [
        ...keys(`threat threatname threatfamily detection detectname classification`),
        ...['category', 'threatcategory', 'malwaretype'],
      ],
      /^(?!.*(?:trojan|ransom|backdoor|stealer|worm|virus))(?:[\w.:/-]{0,20}\b)?(?:pua|pup|adware|riskware|grayware|potentially[ _-]?unwanted)\b/i,
    ),
  },
  {
    ...REASSURING,
    name: 'stays_at_home',
    kind: 'where',
    // Tunnels of attackers end on the same machine, too.
    points: -25,
    calms: ['calls'],
    explanation: 'The connection ends on the same machine.',
    look: byTools(keys(`remoteaddress destip destinationip remoteip dst`), /^(?:127\.|::1$)/),
  },
  {
    ...REASSURING,
    name: 'no_passwords',
    points: -80,
    calms: ['talk', 'guess'],
    proof: true,
    explanation: 'The server takes no passwords at all, so no guess can succeed.',
    look: byTools(['passwordauth', 'passwordauthentication'], /^(?:disabled|no|off)$/i),
  },
  {
    ...REASSURING,
    name: 'no_risk_seen',
    kind: 'clean',
    points: -8,
    calms: ['place'],
    explanation: 'The directory sees no risk.',
    look: byTools(['risk', 'risklevel', 'riskstate'], /^(?:none|low|0)$/i),
  },
];
