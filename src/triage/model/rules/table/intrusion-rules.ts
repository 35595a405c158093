import {
  anyOf,
  isFalse,
  isTrue,
  reads,
  type Rule,
  says,
  tells,
  together,
  told,
  countOf,
  keys,
} from '../rule.js';

const MALWARE = { group: 'endpoint', category: 'malware' } as const;

export const INTRUSION_RULES: readonly Rule[] = [
  {
    ...MALWARE,
    name: 'credential_dump',
    points: 55,
    explanation: 'Credentials are read from memory or from the directory.',
    look: anyOf(
      says('credential_dump'),
      // The bit 0x10 is the right to read the memory of a process: what only asks for its state has no need of it.
      together(
        reads(['targetimage', 'targetprocess'], /(?:^|[\\/])lsass\.exe$/i),
        reads(['grantedaccess', 'desiredaccess'], /^0x[0-9a-f]{0,7}[13579bdf][0-9a-f]$/i),
      ),
    ),
    mitre: ['T1003'],
  },
  {
    ...MALWARE,
    name: 'directory_copy',
    points: 35,
    explanation: 'The database of the directory is copied, as for a backup or for its passwords.',
    look: says('directory_copy'),
    mitre: ['T1003.003'],
  },
  {
    ...MALWARE,
    name: 'credential_store',
    points: 35,
    explanation: 'Stored passwords or cookies are read.',
    look: says('credential_store'),
    mitre: ['T1555'],
  },
  {
    ...MALWARE,
    name: 'credentials_leave',
    points: 25,
    explanation: 'Stored secrets are read, and something is sent to a host outside.',
    look: together(
      says('credential_store', 'leaked_secret'),
      told(/./, /\b(?:post|put|upload\w*|sends?|sent)\b.{0,40}https?:\/\//i),
    ),
    mitre: ['T1555', 'T1041'],
  },
  {
    ...MALWARE,
    name: 'spreads',
    points: 30,
    explanation: 'It is on other machines by now.',
    look: told(
      /^(?:spread\w*|alsoinfected|infected(?:hosts|machines|devices)|propagat\w*)$/,
      /[a-z]{2}/i,
    ),
    mitre: ['T1091', 'T1570'],
  },
  {
    ...MALWARE,
    name: 'persistence',
    points: 20,
    explanation: 'Something made sure that it starts again.',
    look: tells('persistence'),
    mitre: ['T1053', 'T1543'],
  },
  {
    ...MALWARE,
    name: 'persistent_script',
    points: 30,
    explanation: 'A task or service starts a script from a place where anybody may write.',
    look: together(
      says('persistence'),
      reads(
        keys(`command path binpath imagepath servicename taskname`),
        /(?:\\users\\public|\\appdata\\|\\temp\\|\\programdata\\|^\/tmp\/|admin\$)/i,
      ),
    ),
    mitre: ['T1053', 'T1543'],
  },
  {
    ...MALWARE,
    name: 'remote_service',
    points: 25,
    explanation: 'Commands or services were started from another machine.',
    look: says('remote_service'),
    mitre: ['T1021', 'T1569.002'],
  },
  {
    ...MALWARE,
    name: 'many_targets',
    points: 20,
    explanation: 'One account reached several machines within minutes.',
    look: together(
      says('remote_service'),
      reads(keys(`targethosts targets desthosts targetedhosts`), /[a-z]/i),
    ),
    mitre: ['T1021'],
  },
  {
    ...MALWARE,
    name: 'defence_off',
    points: 45,
    explanation: 'Protection or its log was turned off.',
    look: says('defence_off'),
    mitre: ['T1562'],
  },
  {
    ...MALWARE,
    name: 'log_cleared',
    points: 45,
    explanation: 'The log of a machine was emptied, which hides what was done before.',
    look: anyOf(
      says('log_cleared'),
      together(
        reads(['eventid', 'eventcode'], /^(?:1102|104)$/),
        reads(keys(`channel logname provider providername computer computername`), /\S/),
      ),
    ),
    mitre: ['T1070.001'],
  },
  {
    ...MALWARE,
    name: 'vulnerable_driver',
    points: 35,
    explanation: 'A driver with known holes was loaded.',
    look: anyOf(
      isTrue('listedvulnerable', 'vulnerabledriver'),
      told(
        /./,
        /\b(?:iqvw64e?|rtcore64|gdrv|dbutil_2_3|capcom|aswarpot|zam64|mhyprot\w*|procexp152|truesight|winring0\w*)(?:\.sys)?\b/i,
      ),
      reads(keys(`alert alertname title rule rulename event`), /\bvulnerable driver\b/i),
    ),
    mitre: ['T1068'],
  },
  {
    ...MALWARE,
    name: 'discovery',
    points: 18,
    explanation: 'Somebody looks for administrators, machines or secrets.',
    look: tells('discovery'),
    mitre: ['T1087', 'T1018'],
  },
  {
    ...MALWARE,
    name: 'exfiltration_tool',
    points: 35,
    explanation: 'A tool copies data out.',
    look: says('exfiltration_tool'),
    category: undefined,
    mitre: ['T1567'],
  },
  {
    ...MALWARE,
    name: 'leaver',
    points: 20,
    explanation: 'Somebody who leaves the company takes data along more often than others.',
    look: reads(
      keys(`
        resignation resignationonfile leaver hrflag noticegiven employmentstatus
        lastworkingday`),
      /^(?:true|yes)$|^\d{4}-|\b(?:leav\w+|resign\w*|notice|terminated)\b/i,
    ),
    category: 'data_exfiltration',
    mitre: ['T1567'],
  },
  {
    ...MALWARE,
    name: 'not_sanctioned',
    points: 20,
    explanation: 'The policy does not allow where the data goes.',
    look: anyOf(
      isFalse('sanctioned', 'issanctioned'),
      reads(['policy', 'policyresult', 'policynote'], /\bnot allowed\b|\bforbidden\b/i),
    ),
    category: 'data_exfiltration',
    mitre: ['T1567'],
  },
  {
    ...MALWARE,
    name: 'shell_port',
    points: 25,
    explanation: 'The connection goes to a port that attack tools listen on unless told otherwise.',
    look: reads(
      keys(`destport dport dstport destinationport remoteport`),
      /^(?:4444|4445|1337|31337|6666)$/,
    ),
    mitre: ['T1571'],
  },
  {
    ...MALWARE,
    name: 'much_sent_out',
    points: 20,
    explanation: 'Very much was sent out.',
    look: anyOf(
      countOf(
        /bytes\w*(?:out|sent|upload\w*|egress|transferred|external)$|(?:out|upload|egress|sent|exfil)\w*bytes$/,
        1e9,
      ),
      countOf(
        /(?:mb|mib|megabytes)(?:out|sent|upload\w*|egress)$|(?:out|upload|egress|sent|exfil)\w*(?:mb|mib)$/,
        1000,
      ),
      countOf(
        /(?:gb|gib|gigabytes)(?:out|sent|upload\w*|egress)$|(?:out|upload|egress|sent|exfil)\w*(?:gb|gib)$/,
        1,
      ),
    ),
    mitre: ['T1048'],
  },
  {
    ...MALWARE,
    name: 'secrets_of_builds',
    points: 30,
    explanation: 'A build step read secrets and called a host outside.',
    look: together(
      says('leaked_secret'),
      reads(['host', 'egress', 'dest'], /\./),
      reads(['pipeline', 'step', 'package'], /\S/),
    ),
    mitre: ['T1195.002'],
  },
];
