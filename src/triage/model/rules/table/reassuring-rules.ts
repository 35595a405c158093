import { authenticated } from '../authentication.js';
import { anyOf, byTools, byToolsAtLeast, type Look, reads, type Rule, together } from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;
const YES = /^(?:true|yes)$/i;
const NO = /^(?:false|no|0)$/i;

const senderProven: Look = {
  at: 'DMARC passed, said by the gateway and not in the headers of the mail',
  find: (facts) => {
    if (authenticated(facts, 'dmarc', ['fail', 'none']).length > 0) return [];
    return authenticated(facts, 'dmarc', ['pass']).filter(
      ({ path }) => !/(?:^|\/)headers?(?:\/|$)/.test(path),
    );
  },
};

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

/**
 * The only rules that lower the points. Each looks at an answer of a gateway, a sensor or a directory, of a fixed form; a text that
 * somebody outside may have written is not among them, and neither is the absence of something.
 */
export const REASSURING_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'sender_proven',
    points: -10,
    explanation: 'The domain of the sender is proven. A mailbox that was taken over passes, too.',
    look: senderProven,
  },
  {
    ...REASSURING,
    name: 'long_known',
    points: -20,
    explanation: 'The sender has written here for long.',
    look: byToolsAtLeast(
      10,
      'priorfromsender365d',
      'priormessages90d',
      'priormessages',
      'priorfromsender',
    ),
  },
  {
    ...REASSURING,
    name: 'account_on_file',
    points: -35,
    explanation: 'The bank details are those on file.',
    look: byTools(['ibanmatchesmaster', 'bankdetailsmatch'], YES),
  },
  {
    ...REASSURING,
    name: 'account_unchanged',
    points: -25,
    explanation: 'No bank details were changed.',
    look: byTools(['bankdetailschanged'], NO),
  },
  {
    ...REASSURING,
    name: 'vendor_known',
    points: -10,
    explanation: 'The vendor is on file.',
    look: byTools(['vendorknown', 'knownvendor'], YES),
  },
  {
    ...REASSURING,
    name: 'simulation_on_file',
    points: -45,
    explanation: 'The gateway knows the address as that of the training.',
    look: byTools(['ipinsimulationlist', 'simulationipmatch'], YES),
  },
  {
    ...REASSURING,
    name: 'sent_inside',
    points: -15,
    explanation: 'The mail was sent inside.',
    look: byTools(['internal', 'isinternal'], YES),
  },
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
