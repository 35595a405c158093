import { attack, benign, confirmedAttack, HOST, LOGIN, Scenes } from './scenes.ts';
import { createPost, createUpdate, type Post, type ToolEvent } from './tools.ts';

export interface Day {
  readonly name: string;
  readonly posts: readonly Post[];
  /** Types of actions that fail at the sandbox connector on this day. */
  readonly fails: readonly string[];
}

const NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const WAVE_DAY = 2;
const CAMPAIGN_DAY = 4;
const WAVE = 40;
const IN_ONE_BODY = 10;

/** Week of a security operations centre: noise, a wave, a campaign, repeated events and updates. */
export function week(seed: number): Day[] {
  const scenes = new Scenes(seed);
  return NAMES.map((name, day) => {
    const noise = [
      ...mails(scenes, day),
      ...accounts(scenes, day),
      ...machines(scenes, day),
      ...clouds(scenes, day),
      ...consoles(scenes, day),
    ];
    const posts = shuffled(scenes, noise);
    if (day === WAVE_DAY) posts.splice(posts.length / 2, 0, ...inOneBurst(wave(scenes)));
    if (day === CAMPAIGN_DAY) posts.splice(posts.length / 2, 0, ...inOneBurst(campaign(scenes)));
    const fails = day === WAVE_DAY ? ['lookup_url', 'block_sender'] : [];
    return { name, fails, posts: [...posts, ...repeatsAndUpdates(scenes, day)] };
  });
}

/** Short form for CI: the day of the wave and the day of the campaign. */
export const shortWeek = (seed: number): Day[] =>
  week(seed).filter((_day, index) => index === WAVE_DAY || index === CAMPAIGN_DAY);

function mails(scenes: Scenes, day: number): Post[] {
  const odd = day % 2 === 1;
  return [
    createPost(
      scenes.newsletter(),
      scenes.newsletter(),
      scenes.phish('delivered'),
      scenes.phish('blocked'),
    ),
    createPost(scenes.phish('delivered'), ...(odd ? [scenes.click()] : [])),
    createPost(scenes.flaggedMail(odd)),
    createPost(scenes.reportedMail(odd)),
    createPost(scenes.gatewayMail(!odd)),
    createPost(
      scenes.defenderMail(),
      scenes.defender(
        'Sign-in from a new device',
        'InitialAccess',
        'low',
        scenes.user(),
        benign(...LOGIN),
      ),
    ),
  ];
}

function accounts(scenes: Scenes, day: number): Post[] {
  const signIns = () =>
    createPost(scenes.signIn('SUCCESS'), scenes.signIn('SUCCESS'), scenes.signIn('FAILURE'));
  const guessed = 'Many failed logins over SSH';
  return [
    signIns(),
    signIns(),
    ...(day % 3 === 0 ? [createPost(scenes.suspectedSignIn())] : []),
    createPost(scenes.failedSsh()),
    createPost(scenes.failedSsh()),
    createPost(
      scenes.wazuh(10, guessed, ['syslog', 'sshd', 'authentication_failures'], attack(...LOGIN)),
    ),
    ...(day % 2 === 0 ? [createPost(scenes.rootLogin())] : []),
    scenes.sample('genericLogin', day === 1 ? attack(...LOGIN) : benign(...LOGIN), {
      '/data/severity': day === 1 ? 'high' : 'low',
      '/data/details/title':
        day === 1 ? 'Login from two countries within an hour' : 'Login to the VPN at night',
      '/data/details/user': scenes.user(),
    }),
    scenes.sample('sentinel', attack(...LOGIN), {
      '/object/properties/relatedEntities/0/properties/accountName': scenes.user(),
    }),
    scenes.sample('logAlert', day === 6 ? confirmedAttack(...LOGIN) : benign(...LOGIN), {
      '/result/urgency': day === 6 ? 'critical' : 'low',
      '/search_name':
        day === 6
          ? 'Many failed logins, then one that worked'
          : 'Failed logins of a service account',
      '/result/user': scenes.user(),
      '/result/src': scenes.outside(),
    }),
  ];
}

function machines(scenes: Scenes, day: number): Post[] {
  const locker = { file: 'lock.exe', description: 'Files are being encrypted.' };
  const threat = (bad: boolean) =>
    scenes.fromSample('sentinelone', bad ? confirmedAttack(...HOST) : benign(...HOST), {
      '/threatInfo/threatName': bad ? 'invoice.exe' : 'toolbar-setup.exe',
      '/threatInfo/classification': bad ? (day === 5 ? 'Ransomware' : 'Trojan') : 'PUA',
      '/threatInfo/confidenceLevel': bad ? 'malicious' : 'suspicious',
      '/threatInfo/sha256': scenes.hash(),
      '/threatInfo/filePath': `\\Device\\HarddiskVolume3\\Users\\${scenes.user()}\\Downloads`,
      '/agentRealtimeInfo/agentComputerName': scenes.host(),
    });
  const rule = (severity: string) =>
    scenes.fromSample(
      'elastic',
      severity === 'critical' ? confirmedAttack(...HOST) : benign(...HOST),
      {
        '/kibana/alert/severity': severity,
        '/kibana/alert/rule/name':
          severity === 'critical'
            ? 'Suspicious MS Office Child Process'
            : 'Unusual Process For a Host',
        '/host/name': scenes.host(),
        '/user/name': scenes.user(),
      },
    );
  return [
    createPost(
      scenes.scan(),
      scenes.scan(),
      scenes.scan(),
      ...(day % 3 === 1 ? [scenes.scan(1)] : []),
    ),
    createPost(scenes.container(day === 3)),
    createPost(
      scenes.falcon('AdwarePUP', 'Machine Learning', 'Adware/PUP', {
        severity: 30,
        file: 'toolbar.exe',
        truth: benign(...HOST),
      }),
    ),
    ...(day % 2 === 1
      ? [
          createPost(
            scenes.falcon(
              'RansomwareFileEncryption',
              'Impact',
              'Data Encrypted for Impact',
              locker,
            ),
          ),
        ]
      : []),
    createPost(...(day % 2 === 0 ? [threat(true), threat(false)] : [threat(false)])),
    createPost(rule('low'), ...(day === 2 ? [rule('critical')] : [])),
    scenes.sample('endpointAlert', day === 5 ? confirmedAttack(...HOST) : benign(...HOST), {
      '/event/Hostname': scenes.host(),
      '/event/Name': day === 5 ? 'Known Malware' : 'Unwanted Program',
      '/event/Severity': day === 5 ? 90 : 20,
      '/event/SeverityName': day === 5 ? 'Critical' : 'Low',
      '/event/SHA256String': scenes.hash(),
    }),
    scenes.sample('splunk', benign(...HOST, 'policy_violation'), {
      '/result/dest': scenes.host(),
      '/result/user': scenes.user(),
    }),
    ...(day === 4 ? [scenes.sample('ocsf', confirmedAttack('ransomware'))] : []),
    scenes.sample('secops', benign(...HOST), { '/detection/0/severity': 'LOW' }),
  ];
}

function clouds(scenes: Scenes, day: number): Post[] {
  const policy = benign('policy_violation', 'other');
  return [
    createPost(
      scenes.fromSample('securityHub', policy, { '/Severity/Label': 'MEDIUM' }),
      scenes.fromSample('securityHub', policy, { '/Severity/Label': 'LOW' }),
    ),
    scenes.sample('sshBruteForce', benign('brute_force'), { '/detail/severity': 2 }),
    ...(day === 3
      ? [
          scenes.sample('stolenCredentials', confirmedAttack('account_takeover', 'intrusion'), {
            '/detail/severity': 9,
          }),
        ]
      : []),
    scenes.sample('dependabot', policy, {
      '/alert/security_vulnerability/severity': 'medium',
    }),
    ...(day === 1 ? [scenes.sample('secretScanning', attack('policy_violation'))] : []),
    ...(day === 5 ? [scenes.sample('codeScanning', policy)] : []),
    ...(day % 3 === 2 ? [scenes.sample('cloudflare', attack('intrusion', 'other'))] : []),
    scenes.sample('alertmanager', benign(...LOGIN, 'other'), {
      '/labels/alertname': 'CertificateExpiresSoon',
      '/labels/severity': 'warning',
      '/annotations/summary': 'The certificate of a host ends in 20 days',
    }),
  ];
}

/** Events of consoles that forward the findings of other tools, and events of further tools for mails and hosts. */
function consoles(scenes: Scenes, day: number): Post[] {
  const failed = benign(...LOGIN);
  if (day % 2 === 1) {
    return [
      scenes.sample('grafana', failed, { '/labels/severity': 'warning' }),
      scenes.sample('graylog', failed, { '/event/priority': 1 }),
      scenes.sample('datadogMonitor', failed),
    ];
  }
  return [
    scenes.sample('pagerDuty', failed, {
      '/event/data/priority/summary': 'P4',
      '/event/data/title': `Many failed logins of ${scenes.user()}`,
    }),
    scenes.sample('datadogSignal', attack('brute_force', 'intrusion'), {
      '/hostname': scenes.host(),
    }),
    createPost(
      ...(day === CAMPAIGN_DAY
        ? [
            scenes.fromSample('cortex', confirmedAttack(...HOST), {
              '/host_name': scenes.host(),
              '/user_name': `EXAMPLE\\${scenes.user()}`,
              '/severity': 'high',
            }),
          ]
        : []),
      scenes.fromSample('cortex', benign(...HOST), {
        '/host_name': scenes.host(),
        '/user_name': `EXAMPLE\\${scenes.user()}`,
        '/name': 'Unwanted program',
        '/severity': 'low',
        '/description': 'A program that brings advertisements',
      }),
    ),
    scenes.sample('azureLog', failed, { '/data/essentials/severity': 'Sev3' }),
    scenes.sample('azureActivity', benign('policy_violation', 'other')),
    scenes.sample('graylog', failed),
    scenes.sample('mimecastClick', attack('phishing'), {
      '/userEmailAddress': `${scenes.user()}@example.com`,
    }),
    scenes.sample('mimecastImpersonation', attack('bec')),
    scenes.sample('abnormal', attack('phishing'), {
      '/recipientAddress': `${scenes.user()}@example.com`,
    }),
    scenes.sample('grafana', failed, { '/labels/severity': 'warning' }),
  ];
}

/** 40 false positives: every machine installs an update that a signature detects as malware. */
function wave(scenes: Scenes): Post[] {
  const truth = { ...benign(...HOST), wave: true };
  const alike = () =>
    scenes.falcon('MaliciousFile', 'Malware', 'Malicious File', {
      severity: 70,
      file: 'updater.exe',
      truth,
    });
  const alone = Array.from({ length: WAVE - IN_ONE_BODY }, () => createPost(alike()));
  return [...alone, createPost(...Array.from({ length: IN_ONE_BODY }, alike))];
}

/**
 * Seven events of four tools: a phishing mail, a click, a distant sign-in, PowerShell, an LSASS dump, a root login, and
 * an inbox rule.
 */
function campaign(scenes: Scenes): Post[] {
  const user = 'a.meyer';
  const host = 'WS-0142';
  const shell = 'powershell.exe -nop -w hidden -enc SQBFAFgAIAAoAE4AZQB3AC0ATwBiAGoAZQBjAHQA';
  const dump = 'rundll32.exe C:\\windows\\System32\\comsvcs.dll, MiniDump 624 C:\\temp\\l.dmp full';
  return [
    createPost(scenes.phish('delivered', user)),
    createPost(scenes.click(user)),
    createPost(
      scenes.defender(
        'Impossible travel activity',
        'InitialAccess',
        'high',
        user,
        attack(...LOGIN),
      ),
    ),
    createPost(
      scenes.falcon('SuspiciousPowerShell', 'Execution', 'PowerShell', {
        host,
        user,
        severity: 70,
        file: 'powershell.exe',
        line: shell,
      }),
    ),
    createPost(
      scenes.falcon('CredentialDumping', 'Credential Access', 'OS Credential Dumping', {
        host,
        user,
        line: dump,
      }),
    ),
    createPost(scenes.rootLogin()),
    createPost(
      scenes.defender(
        'Suspicious inbox manipulation rule',
        'DefenseEvasion',
        'high',
        user,
        attack('account_takeover', 'intrusion', 'phishing'),
      ),
    ),
  ];
}

/** Repeated events, and updates that raise the severity or resolve the alert. */
function repeatsAndUpdates(scenes: Scenes, day: number): Post[] {
  const first: ToolEvent = scenes.falcon(
    'SuspiciousScript',
    'Execution',
    'Command and Scripting Interpreter',
    {
      severity: 50,
      file: 'wscript.exe',
    },
  );
  const rise = { '/severity': 95, '/severity_name': 'Critical', '/status': 'in_progress' };
  const worse = createUpdate(first, rise, { ...confirmedAttack(...HOST), raised: true });
  const fires = scenes.fromSample('alertmanager', attack(...LOGIN), { '/labels/severity': 'page' });
  const over = createUpdate(fires, { '/status': 'resolved', '/endsAt': '2026-06-08T01:40:00Z' });
  const seen = createPost(scenes.failedSsh());
  return [
    createPost(first),
    seen,
    seen,
    createPost(worse),
    ...(day % 2 === 0 ? [createPost(fires), createPost(over)] : []),
  ];
}

const inOneBurst = (posts: readonly Post[]): Post[] =>
  posts.map((one, index) => ({ ...one, ...(index > 0 && { atOnce: true }) }));

function shuffled<T>(scenes: Scenes, given: readonly T[]): T[] {
  const left = [...given];
  return given.map(() => left.splice(scenes.random.below(left.length), 1)[0]!);
}
