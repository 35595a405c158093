import { requestLetThrough, requestsLike } from '../requests.js';
import { anyOf, byTools, byToolsAtLeast, type Look, reads, type Rule, together } from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;
const YES = /^(?:true|yes)$/i;
const NO = /^(?:false|no|0)$/i;

/** A managed telephone says nothing about the message that it shows: only a sign-in is made better by its device. */
const signIn = reads(
  [
    'mfa',
    'factor',
    'country',
    'city',
    'geo',
    'signin',
    'login',
    'ips',
    'outcome',
    'authenticationrequirement',
  ],
  /\S/,
);

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
  ['ip', 'ipaddress', 'srcip', 'sourceip', 'clientip'],
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]{3,11}$/,
);
/** A tag of an asset may be that of the target: then the scanner is what a stranger scans, so the source has to be inside. */
const taggedSource = anyOf(
  byTools(['srcrole', 'sourcerole'], SCANNER),
  together(byTools(['assettag', 'assetrole', 'assettype'], SCANNER), sourceInside),
);

/**
 * What calms events on machines, accounts and networks. What `REASSURING_MAIL_RULES` says of texts holds here, too. Few of them are
 * a proof: most can be had by who attacks, and a comment says how.
 */
export const REASSURING_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'managed_device',
    // A stolen session may show the device that it was stolen from.
    points: -20,
    calms: ['place'],
    explanation: 'The device is managed or keeps to the rules.',
    look: together(
      byTools(
        [
          'managed',
          'ismanaged',
          'compliant',
          'iscompliant',
          'registered',
          'deviceknown',
          'istrusted',
          'trusteddevice',
          'knowndevice',
          'devicetrusted',
          'devicemanaged',
          'enrolled',
          'mdmenrolled',
        ],
        YES,
      ),
      signIn,
    ),
  },
  {
    ...REASSURING,
    name: 'strong_factor',
    // Who steals the session after the factor was given has no need of it, and insiders give their own.
    points: -25,
    calms: ['place'],
    explanation: 'The second factor is one that cannot be passed on.',
    look: byTools(
      ['mfa', 'factor', 'mfamethod', 'authenticationmethod', 'mfaatpaw'],
      /^(?:passkey|security key|webauthn|fido2?|certificate|smart ?card|windows hello)(?: on both)?$/i,
    ),
  },
  {
    ...REASSURING,
    name: 'signature_trusted',
    // Shells, installers and drivers with holes are signed, too: it speaks for the program and not for what was run with it.
    points: -15,
    calms: ['program', 'stores'],
    explanation: 'The sensor trusts the signature of the program.',
    look: byTools(['trusted', 'signaturevalid'], YES),
  },
  {
    ...REASSURING,
    name: 'deployed',
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
        ['parent', 'parentimage', 'parentprocess', 'parentname'],
        /(?:^|\\)(?:ccmexec|intunemanagementextension)\.exe$/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'seen_everywhere',
    // Only of sign-ins. A worm is on many machines and a wave of mails has many readers: there, many is worse.
    points: -30,
    calms: ['place'],
    explanation:
      'Very many people sign in from the same pair of places today, as behind one gateway.',
    look: byToolsAtLeast(50, 'userswithsamepairtoday'),
  },
  {
    ...REASSURING,
    name: 'seen_before',
    // Only of sign-ins: beacons and guesses repeat themselves as well.
    points: -20,
    calms: ['place'],
    explanation: 'The same pair of places was seen often before.',
    look: byToolsAtLeast(10, 'samepairlast30d'),
  },
  {
    ...REASSURING,
    name: 'change_on_file',
    // Nobody checked that this change exists, nor what it allows.
    points: -20,
    calms: ['run'],
    explanation: 'A change on file covers it.',
    look: byTools(
      ['change', 'changeticket', 'changerecord', 'changerequest', 'ticket', 'exclusionrequest'],
      /^(?:CHG|CHANGE|RFC)-?\d{3,}/,
    ),
  },
  {
    ...REASSURING,
    name: 'exercise_on_file',
    // An exercise is announced, and others attack meanwhile: it does not explain this very event.
    points: -35,
    calms: ['run', 'request', 'guess'],
    explanation: 'Rules of engagement on file cover it.',
    look: byTools(['id', 'roeid'], /^ROE-\d{4}/),
  },
  {
    ...REASSURING,
    name: 'network_on_file',
    // An attacker who is inside comes from the same network.
    points: -20,
    calms: ['place'],
    explanation: 'The directory knows the network as one of ours.',
    look: byTools(
      [
        'trustedlocation',
        'trustednetwork',
        'iscorporatenetwork',
        'corporateegress',
        'knownip',
        'knownlocation',
        'locationknown',
        'usuallocation',
        'familiarlocation',
        'ipknown',
        'namedlocationtrusted',
        'corporatevpn',
        'iscorporatevpn',
      ],
      YES,
    ),
  },
  {
    ...REASSURING,
    name: 'allowed_on_file',
    // Attackers like to use what is allowed.
    points: -15,
    calms: ['run', 'fetch', 'program', 'stores'],
    explanation: 'The tool has it on its list of what is allowed.',
    look: byTools(
      [
        'allowlisted',
        'whitelisted',
        'approvedsoftware',
        'isapproved',
        'approved',
        'authorized',
        'authorised',
      ],
      YES,
    ),
  },
  {
    ...REASSURING,
    name: 'in_maintenance',
    // Attacks happen within maintenance windows, too.
    points: -15,
    calms: ['run'],
    explanation: 'It happened within a maintenance window on file.',
    look: byTools(
      ['maintenancewindow', 'inmaintenancewindow', 'scheduledscan', 'inchangewindow'],
      YES,
    ),
  },
  {
    ...REASSURING,
    name: 'signed',
    // Stolen certificates sign as well.
    points: -8,
    calms: ['program'],
    explanation: 'The program is signed.',
    look: byTools(['signed', 'issigned', 'signaturestatus'], /^(?:true|yes|valid|trusted)$/i),
  },
  {
    ...REASSURING,
    name: 'known_contact',
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
    name: 'tool_says_clean',
    // Not found is not the same as not there.
    points: -10,
    calms: ['sender', 'program'],
    explanation: 'The tool found nothing in it.',
    look: byTools(
      [
        'sandboxverdict',
        'urlverdict',
        'urlreputation',
        'filereputation',
        'avverdict',
        'attachmentverdict',
      ],
      /^(?:clean|benign|harmless|no threats? found|known good|good)$/i,
    ),
  },
  {
    ...REASSURING,
    name: 'known_scanner',
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
    calms: ['request', 'rating'],
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
    calms: ['request', 'rating'],
    proof: true,
    explanation: 'A machine that the inventory marks as a scanner scans.',
    look: together(
      taggedSource,
      byTools(
        ['signature', 'rule', 'rulename', 'alert', 'alertname', 'title', 'event'],
        /\b(?:nmap|nessus|qualys|openvas|scans?|scanning)\b/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'test_window',
    // As with an exercise: a window is a time, and others attack within it.
    points: -25,
    calms: ['run', 'request', 'guess'],
    explanation: 'It happened within the window of a penetration test on file.',
    look: byTools(['pentestwindow', 'inpentestwindow', 'inpentestscope', 'scheduledpentest'], YES),
  },
  {
    ...REASSURING,
    name: 'factor_given',
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
    points: -8,
    calms: ['place'],
    explanation: 'The sign-in came from an address inside.',
    look: together(sourceInside, signIn),
  },
  {
    ...REASSURING,
    name: 'mistyped',
    points: -8,
    calms: ['guess', 'place'],
    explanation: 'A few failures, as of a mistyped password, and then a success.',
    look: together(
      byTools(['failedattempts', 'failures', 'failurecount', 'failcount'], /^[1-5]$/),
      byTools(['result', 'outcome', 'status'], /^success(?:ful)?$/i),
    ),
  },
  {
    ...REASSURING,
    name: 'test_file',
    // Of a harmless file only: the tool names it so when nothing else is in it.
    points: -40,
    calms: ['tool', 'rating'],
    proof: true,
    explanation: 'The tool names the test file of antivirus programs.',
    look: byTools(['threat', 'threatname', 'detection', 'signature'], /^eicar/i),
  },
  {
    ...REASSURING,
    name: 'unwanted_stopped',
    points: -10,
    calms: ['unwanted'],
    explanation: 'The tool stopped it.',
    look: byTools(
      ['action', 'actiontaken', 'disposition'],
      /^(?:blocked|quarantined|removed|deleted|prevented)$/i,
    ),
  },
  {
    ...REASSURING,
    name: 'stays_at_home',
    // Tunnels of attackers end on the same machine, too.
    points: -25,
    calms: ['calls'],
    explanation: 'The connection ends on the same machine.',
    look: byTools(
      ['remoteaddress', 'destip', 'destinationip', 'remoteip', 'dst'],
      /^(?:127\.|::1$)/,
    ),
  },
  {
    ...REASSURING,
    name: 'no_passwords',
    points: -35,
    calms: ['guess'],
    explanation: 'The server takes no passwords at all.',
    look: byTools(['passwordauth', 'passwordauthentication'], /^(?:disabled|no|off)$/i),
  },
  {
    ...REASSURING,
    name: 'no_risk_seen',
    points: -8,
    calms: ['place'],
    explanation: 'The directory sees no risk.',
    look: byTools(['risk', 'risklevel', 'riskstate'], /^(?:none|low|0)$/i),
  },
];
