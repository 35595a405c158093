import { attack, harmless, HOST, LOGIN, Scenes, told } from './scenes.ts';
import { post, type Post, type ToolEvent, updated } from './tools.ts';

export interface Day {
  readonly name: string;
  readonly posts: readonly Post[];
  /** What the connector cannot do on this day. */
  readonly fails: readonly string[];
}

const NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const WAVE_DAY = 2;
const CAMPAIGN_DAY = 4;
const WAVE = 40;
const IN_ONE_BODY = 10;

/** A week of a security operations centre: noise, a wave, a campaign, and what tools send twice or change afterwards. */
export function week(seed: number): Day[] {
  const scenes = new Scenes(seed);
  return NAMES.map((name, day) => {
    const noise = [
      ...mails(scenes, day),
      ...accounts(scenes, day),
      ...machines(scenes, day),
      ...clouds(scenes, day),
    ];
    const posts = shuffled(scenes, noise);
    if (day === WAVE_DAY) posts.splice(posts.length / 2, 0, ...atOnce(wave(scenes)));
    if (day === CAMPAIGN_DAY) posts.splice(posts.length / 2, 0, ...atOnce(campaign(scenes)));
    const fails = day === WAVE_DAY ? ['lookup_url', 'block_sender'] : [];
    return { name, fails, posts: [...posts, ...laterWords(scenes, day)] };
  });
}

/** The days of the wave and of the campaign: what a check has time for. */
export const shortWeek = (seed: number): Day[] =>
  week(seed).filter((_day, index) => index === WAVE_DAY || index === CAMPAIGN_DAY);

function mails(scenes: Scenes, day: number): Post[] {
  const odd = day % 2 === 1;
  return [
    post(
      scenes.newsletter(),
      scenes.newsletter(),
      scenes.phish('delivered'),
      scenes.phish('blocked'),
    ),
    post(scenes.phish('delivered'), ...(odd ? [scenes.click()] : [])),
    post(scenes.flaggedMail(odd)),
    post(scenes.reportedMail(odd)),
    post(scenes.gatewayMail(!odd)),
    post(
      scenes.defenderMail(),
      scenes.defender(
        'Sign-in from a new device',
        'InitialAccess',
        'low',
        scenes.user(),
        harmless(...LOGIN),
      ),
    ),
  ];
}

function accounts(scenes: Scenes, day: number): Post[] {
  const signIns = () =>
    post(scenes.signIn('SUCCESS'), scenes.signIn('SUCCESS'), scenes.signIn('FAILURE'));
  const guessed = 'Many failed logins over SSH';
  return [
    signIns(),
    signIns(),
    ...(day % 3 === 0 ? [post(scenes.suspectedSignIn())] : []),
    post(scenes.failedSsh()),
    post(scenes.failedSsh()),
    post(
      scenes.wazuh(10, guessed, ['syslog', 'sshd', 'authentication_failures'], attack(...LOGIN)),
    ),
    ...(day % 2 === 0 ? [post(scenes.rootLogin())] : []),
    post(
      scenes.usual('genericLogin', day === 1 ? attack(...LOGIN) : harmless(...LOGIN), {
        '/data/severity': day === 1 ? 'high' : 'low',
        '/data/details/title':
          day === 1 ? 'Login from two countries within an hour' : 'Login to the VPN at night',
        '/data/details/user': scenes.user(),
      }),
    ),
    post(
      scenes.usual('sentinel', attack(...LOGIN), {
        '/object/properties/relatedEntities/0/properties/accountName': scenes.user(),
      }),
    ),
    post(
      scenes.usual('logAlert', day === 6 ? told(...LOGIN) : harmless(...LOGIN), {
        '/result/urgency': day === 6 ? 'critical' : 'low',
        '/search_name':
          day === 6
            ? 'Many failed logins, then one that worked'
            : 'Failed logins of a service account',
        '/result/user': scenes.user(),
        '/result/src': scenes.outside(),
      }),
    ),
  ];
}

function machines(scenes: Scenes, day: number): Post[] {
  const locker = { file: 'lock.exe', description: 'Files are being encrypted.' };
  const threat = (bad: boolean) =>
    scenes.usual('sentinelone', bad ? told(...HOST) : harmless(...HOST), {
      '/threatInfo/threatName': bad ? 'invoice.exe' : 'toolbar-setup.exe',
      '/threatInfo/classification': bad ? (day === 5 ? 'Ransomware' : 'Trojan') : 'PUA',
      '/threatInfo/confidenceLevel': bad ? 'malicious' : 'suspicious',
      '/threatInfo/sha256': scenes.hash(),
      '/threatInfo/filePath': `\\Device\\HarddiskVolume3\\Users\\${scenes.user()}\\Downloads`,
      '/agentRealtimeInfo/agentComputerName': scenes.host(),
    });
  const rule = (severity: string) =>
    scenes.usual('elastic', severity === 'critical' ? told(...HOST) : harmless(...HOST), {
      '/kibana/alert/severity': severity,
      '/kibana/alert/rule/name':
        severity === 'critical'
          ? 'Suspicious MS Office Child Process'
          : 'Unusual Process For a Host',
      '/host/name': scenes.host(),
      '/user/name': scenes.user(),
    });
  return [
    post(scenes.scan(), scenes.scan(), scenes.scan(), ...(day % 3 === 1 ? [scenes.scan(1)] : [])),
    post(scenes.container(day === 3)),
    post(
      scenes.falcon('AdwarePUP', 'Machine Learning', 'Adware/PUP', {
        severity: 30,
        file: 'toolbar.exe',
        truth: harmless(...HOST),
      }),
    ),
    ...(day % 2 === 1
      ? [
          post(
            scenes.falcon(
              'RansomwareFileEncryption',
              'Impact',
              'Data Encrypted for Impact',
              locker,
            ),
          ),
        ]
      : []),
    post(...(day % 2 === 0 ? [threat(true), threat(false)] : [threat(false)])),
    post(rule('low'), ...(day === 2 ? [rule('critical')] : [])),
    post(
      scenes.usual('endpointAlert', day === 5 ? told(...HOST) : harmless(...HOST), {
        '/event/Hostname': scenes.host(),
        '/event/Name': day === 5 ? 'Known Malware' : 'Unwanted Program',
        '/event/Severity': day === 5 ? 90 : 20,
        '/event/SeverityName': day === 5 ? 'Critical' : 'Low',
        '/event/SHA256String': scenes.hash(),
      }),
    ),
    post(
      scenes.usual('splunk', harmless(...HOST, 'policy_violation'), {
        '/result/dest': scenes.host(),
        '/result/user': scenes.user(),
      }),
    ),
    ...(day === 4 ? [post(scenes.usual('ocsf', told('ransomware')))] : []),
    post(scenes.usual('secops', harmless(...HOST), { '/detection/0/severity': 'LOW' })),
  ];
}

function clouds(scenes: Scenes, day: number): Post[] {
  const policy = harmless('policy_violation', 'other');
  return [
    post(
      scenes.usual('securityHub', policy, { '/Severity/Label': 'MEDIUM' }),
      scenes.usual('securityHub', policy, { '/Severity/Label': 'LOW' }),
    ),
    post(scenes.usual('sshBruteForce', harmless('brute_force'), { '/detail/severity': 2 })),
    ...(day === 3
      ? [
          post(
            scenes.usual('stolenCredentials', told('account_takeover', 'intrusion'), {
              '/detail/severity': 9,
            }),
          ),
        ]
      : []),
    post(
      scenes.usual('dependabot', policy, { '/alert/security_vulnerability/severity': 'medium' }),
    ),
    ...(day === 1 ? [post(scenes.usual('secretScanning', attack('policy_violation')))] : []),
    ...(day === 5 ? [post(scenes.usual('codeScanning', policy))] : []),
    ...(day % 3 === 2 ? [post(scenes.usual('cloudflare', attack('intrusion', 'other')))] : []),
    post(
      scenes.usual('alertmanager', harmless(...LOGIN, 'other'), {
        '/labels/alertname': 'CertificateExpiresSoon',
        '/labels/severity': 'warning',
        '/annotations/summary': 'The certificate of a host ends in 20 days',
      }),
    ),
  ];
}

/** An update of a program that a signature takes for malware, on every machine at once. */
function wave(scenes: Scenes): Post[] {
  const truth = { ...harmless(...HOST), wave: true };
  const alike = () =>
    scenes.falcon('MaliciousFile', 'Malware', 'Malicious File', {
      severity: 70,
      file: 'updater.exe',
      truth,
    });
  const alone = Array.from({ length: WAVE - IN_ONE_BODY }, () => post(alike()));
  return [...alone, post(...Array.from({ length: IN_ONE_BODY }, alike))];
}

/** Seven events of four tools about one person: a mail, the click, a sign-in from afar, and what came of it. */
function campaign(scenes: Scenes): Post[] {
  const user = 'a.meyer';
  const host = 'WS-0142';
  const shell = 'powershell.exe -nop -w hidden -enc SQBFAFgAIAAoAE4AZQB3AC0ATwBiAGoAZQBjAHQA';
  const dump = 'rundll32.exe C:\\windows\\System32\\comsvcs.dll, MiniDump 624 C:\\temp\\l.dmp full';
  return [
    post(scenes.phish('delivered', user)),
    post(scenes.click(user)),
    post(
      scenes.defender(
        'Impossible travel activity',
        'InitialAccess',
        'high',
        user,
        attack(...LOGIN),
      ),
    ),
    post(
      scenes.falcon('SuspiciousPowerShell', 'Execution', 'PowerShell', {
        host,
        user,
        severity: 70,
        file: 'powershell.exe',
        line: shell,
      }),
    ),
    post(
      scenes.falcon('CredentialDumping', 'Credential Access', 'OS Credential Dumping', {
        host,
        user,
        line: dump,
      }),
    ),
    post(scenes.rootLogin()),
    post(
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

/** What tools send once more, as it was, and what they say about an earlier event: it is worse, or it is over. */
function laterWords(scenes: Scenes, day: number): Post[] {
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
  const worse = updated(first, rise, { ...told(...HOST), raised: true });
  const fires = scenes.usual('alertmanager', attack(...LOGIN), { '/labels/severity': 'page' });
  const over = updated(fires, { '/status': 'resolved', '/endsAt': '2026-06-08T01:40:00Z' });
  const seen = post(scenes.failedSsh());
  return [
    post(first),
    seen,
    seen,
    post(worse),
    ...(day % 2 === 0 ? [post(fires), post(over)] : []),
  ];
}

const atOnce = (posts: readonly Post[]): Post[] =>
  posts.map((one, index) => ({ ...one, ...(index > 0 && { atOnce: true }) }));

function shuffled<T>(scenes: Scenes, given: readonly T[]): T[] {
  const left = [...given];
  return given.map(() => left.splice(scenes.random.below(left.length), 1)[0]!);
}
