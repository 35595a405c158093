import { anyOf, atLeast, isTrue, reads, type Rule, says, tells, together } from '../rule.js';

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
        ['command', 'path', 'binpath', 'imagepath', 'servicename', 'taskname'],
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
    look: together(says('remote_service'), reads(['targethosts'], /\S/)),
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
        reads(['channel', 'logname', 'provider', 'providername', 'computer', 'computername'], /\S/),
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
      reads(['alert', 'alertname', 'title', 'rule', 'rulename', 'event'], /\bvulnerable driver\b/i),
    ),
    mitre: ['T1068'],
  },
  {
    ...MALWARE,
    name: 'discovery',
    points: 25,
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
    mitre: ['T1567'],
  },
  {
    ...MALWARE,
    name: 'much_sent_out',
    points: 20,
    explanation: 'Very much was sent out.',
    look: atLeast(
      1e9,
      'bytesout',
      'byteestimatedout',
      'bytessent',
      'egressbytes',
      'internetegressbytes',
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
