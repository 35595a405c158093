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
    return facts.all.filter(
      ({ path, pointer, value }) =>
        SCANNER_PATH.test(path) &&
        pointer.split('/').some((step) => sources.has(step)) &&
        /\bscanner\b/i.test(String(value).slice(0, 200)),
    );
  },
};

/** What calms events on machines, accounts and networks. What `REASSURING_MAIL_RULES` says of texts holds here, too. */
export const REASSURING_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'managed_device',
    points: -20,
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
    points: -25,
    explanation: 'The second factor is one that cannot be passed on.',
    look: byTools(
      ['mfa', 'factor', 'mfamethod', 'authenticationmethod', 'mfaatpaw'],
      /^(?:passkey|security key|webauthn|fido2?|certificate|smart ?card|windows hello)(?: on both)?$/i,
    ),
  },
  {
    ...REASSURING,
    name: 'signature_trusted',
    points: -15,
    explanation: 'The sensor trusts the signature of the program.',
    look: byTools(['trusted', 'signaturevalid'], YES),
  },
  {
    ...REASSURING,
    name: 'deployed',
    points: -15,
    explanation: 'The program was deployed by the management of the machines.',
    look: byTools(
      ['deployedby', 'packagedeployedby'],
      /^(?:intune|sccm|configuration manager|jamf|group policy|gpo|ansible|puppet)\b/i,
    ),
  },
  {
    ...REASSURING,
    name: 'seen_everywhere',
    points: -30,
    explanation: 'Very many machines or people show the same.',
    look: byToolsAtLeast(
      50,
      'samecommandhosts24h',
      'clientcount',
      'userswithsamepairtoday',
      'otherstoday',
      'hostswithsame',
      'prevalence',
      'hostcount',
    ),
  },
  {
    ...REASSURING,
    name: 'seen_before',
    points: -20,
    explanation: 'The same was seen often before.',
    look: byToolsAtLeast(
      10,
      'samepairlast30d',
      'repeatsperday',
      'relatedalertssamesource',
      'seenbefore',
    ),
  },
  {
    ...REASSURING,
    name: 'change_on_file',
    points: -20,
    explanation: 'A change on file covers it.',
    look: byTools(
      ['change', 'changeticket', 'changerecord', 'changerequest', 'ticket', 'exclusionrequest'],
      /^(?:CHG|CHANGE|RFC)-?\d{3,}/,
    ),
  },
  {
    ...REASSURING,
    name: 'exercise_on_file',
    points: -35,
    explanation: 'Rules of engagement on file cover it.',
    look: byTools(['id', 'roeid'], /^ROE-\d{4}/),
  },
  {
    ...REASSURING,
    name: 'network_on_file',
    points: -20,
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
    points: -15,
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
    points: -15,
    explanation: 'It happened within a maintenance window on file.',
    look: byTools(
      ['maintenancewindow', 'inmaintenancewindow', 'scheduledscan', 'inchangewindow'],
      YES,
    ),
  },
  {
    ...REASSURING,
    name: 'signed',
    points: -8,
    explanation: 'The program is signed.',
    look: byTools(['signed', 'issigned', 'signaturestatus'], /^(?:true|yes|valid|trusted)$/i),
  },
  {
    ...REASSURING,
    name: 'known_contact',
    points: -8,
    explanation: 'The sender has written here before.',
    look: anyOf(
      byTools(['firstcontact', 'firsttimesender', 'newsender'], NO),
      byTools(['knownsender', 'senderknown'], YES),
    ),
  },
  {
    ...REASSURING,
    name: 'tool_says_clean',
    points: -10,
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
    points: -50,
    explanation: 'The inventory knows the source as a scanner.',
    look: {
      at: 'roles and owners below asset, assets, inventory or cmdb that are scanners',
      find: (facts) =>
        facts.all.filter(
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
    explanation: 'Requests like attacks are what the scanner of the inventory is there to send.',
    look: together(scannerIsSource, requestsLike),
  },
  {
    ...REASSURING,
    name: 'scan_let_through',
    points: -12,
    explanation: 'Nobody stops the scanner of the inventory, as it should be.',
    look: together(scannerIsSource, requestLetThrough),
  },
  {
    ...REASSURING,
    name: 'tagged_scanner',
    points: -30,
    explanation: 'A machine that the inventory marks as a scanner scans.',
    look: together(
      byTools(
        ['assettag', 'assetrole', 'assettype', 'srcrole', 'sourcerole'],
        /^(?:(?:authori[sz]ed|approved|internal)[-_ ])?(?:(?:vulnerability|security)[-_ ])?scanner$/i,
      ),
      byTools(
        ['signature', 'rule', 'rulename', 'alert', 'alertname', 'title', 'event'],
        /\b(?:nmap|nessus|qualys|openvas|scans?|scanning)\b/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'test_window',
    points: -25,
    explanation: 'It happened within the window of a penetration test on file.',
    look: byTools(['pentestwindow', 'inpentestwindow', 'inpentestscope', 'scheduledpentest'], YES),
  },
  {
    ...REASSURING,
    name: 'factor_given',
    points: -6,
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
    explanation: 'The sign-in came from an address inside.',
    look: together(
      byTools(
        ['ip', 'ipaddress', 'srcip', 'sourceip', 'clientip'],
        /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]{3,11}$/,
      ),
      signIn,
    ),
  },
  {
    ...REASSURING,
    name: 'mistyped',
    points: -8,
    explanation: 'A few failures, as of a mistyped password, and then a success.',
    look: together(
      byTools(['failedattempts', 'failures', 'failurecount', 'failcount'], /^[1-5]$/),
      byTools(['result', 'outcome', 'status'], /^success(?:ful)?$/i),
    ),
  },
  {
    ...REASSURING,
    name: 'test_file',
    points: -40,
    explanation: 'The tool names the test file of antivirus programs.',
    look: byTools(['threat', 'threatname', 'detection', 'signature'], /^eicar/i),
  },
  {
    ...REASSURING,
    name: 'engines_clean',
    points: -20,
    explanation: 'Some of the engines that were asked find nothing.',
    look: {
      at: 'answers below engines, scanners or detections that are clean',
      find: (facts) =>
        facts.all.filter(
          ({ path, value }) =>
            /^(?:.*\/)?(?:engines|scanners|avresults)\//.test(path) &&
            /^(?:clean|undetected|harmless)$/i.test(String(value).slice(0, 20)),
        ),
    },
  },
  {
    ...REASSURING,
    name: 'nothing_left',
    points: -15,
    explanation: 'Nothing was sent outside.',
    look: byTools(
      ['internetegressbytes', 'networkbytesexternal', 'bytesexternal', 'egressbytes'],
      /^0$/,
    ),
  },
  {
    ...REASSURING,
    name: 'stays_at_home',
    points: -25,
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
    explanation: 'The server takes no passwords at all.',
    look: byTools(['passwordauth', 'passwordauthentication'], /^(?:disabled|no|off)$/i),
  },
  {
    ...REASSURING,
    name: 'chain_valid',
    points: -10,
    explanation: 'The certificate of the host is valid.',
    look: byTools(['validchain', 'chainvalid'], YES),
  },
  {
    ...REASSURING,
    name: 'no_risk_seen',
    points: -8,
    explanation: 'The directory sees no risk.',
    look: byTools(['risk', 'risklevel', 'riskstate'], /^(?:none|low|0)$/i),
  },
];
