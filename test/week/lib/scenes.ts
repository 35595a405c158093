import { Random } from '../../support/playbooks/random.ts';
import {
  createEvent,
  createPost,
  type Json,
  type Kind,
  type Post,
  type ToolEvent,
  type Truth,
} from './tools.ts';

const MAIL = ['phishing', 'spam', 'bec'];
export const LOGIN = ['suspicious_login', 'account_takeover', 'brute_force'];
export const HOST = ['malware', 'ransomware', 'intrusion', 'brute_force'];

export const benign = (...types: readonly string[]): Truth => ({ malicious: false, types });
export const attack = (...types: readonly string[]): Truth => ({ malicious: true, types });
/** Attack that the tool reports as critical, malicious or confirmed. */
export const confirmedAttack = (...types: readonly string[]): Truth => ({
  ...attack(...types),
  toolSays: true,
});
const plainMail: Truth = { ...benign(...MAIL), plainMail: true };
const inMailbox = (truth: Truth): Truth => ({ ...truth, deliveredMail: true });

const NAMES =
  'a.meyer b.okafor c.lind d.rossi e.kowalski f.lang g.ito h.berg i.ryan j.weber k.ono l.moss'.split(
    ' ',
  );
const LETTERS = [
  ['newsletter@garden-club.example.net', 'What to plant in June'],
  ['news@trade-journal.example.org', 'The week in logistics'],
  ['events@chamber.example.net', 'Invitation to the summer reception'],
  ['digest@open-forum.example.org', 'Your weekly digest'],
  ['team@tool-maker.example.net', 'Release notes of version 8'],
  ['office@sports-club.example.org', 'Minutes of the meeting'],
];
const LURES = [
  ['accounts@examp1e.test', 'Your invoice is overdue', 'https://login.examp1e.test/verify?id='],
  ['it-support@exarnple.test', 'Your password ends today', 'https://portal.exarnple.test/reset/'],
  ['hr@example-payroll.test', 'Confirm your bank account', 'https://example-payroll.test/form/'],
  ['voice@mail-notice.test', 'You have one new voice message', 'https://mail-notice.test/v/'],
];

/** Generates events with their ground truth. The same seed generates the same events. */
export class Scenes {
  readonly random: Random;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  readonly user = (): string => this.random.of(NAMES);
  readonly host = (): string => `WS-${1_000 + this.random.below(9_000)}`;
  readonly outside = (): string => `203.0.113.${1 + this.random.below(250)}`;
  readonly inside = (): string =>
    `10.${this.random.below(20)}.${this.random.below(200)}.${1 + this.random.below(250)}`;
  readonly hash = (): string =>
    Array.from({ length: 64 }, () => this.random.below(16).toString(16)).join('');

  newsletter(): ToolEvent {
    const [from, subject] = this.random.of(LETTERS);
    const user = `${this.user()}@example.com`;
    return createEvent('delivered', inMailbox(plainMail), {
      ...this.mail(from!, subject!, user),
      '/spamScore': 4 + this.random.below(30),
      '/phishScore': 0,
      '/malwareScore': 0,
      '/messageParts': this.inlineParts(),
      '/threatsInfoMap': [],
      '/quarantineFolder': null,
    });
  }

  phish(
    kind: 'delivered' | 'blocked',
    victim = this.user(),
    lure = this.random.of(LURES),
  ): ToolEvent {
    const [from, subject, link] = lure;
    const threat = link! + this.random.below(1_000_000);
    const truth = confirmedAttack('phishing', 'bec');
    return createEvent(kind, kind === 'delivered' ? inMailbox(truth) : truth, {
      ...this.mail(from!, subject!, `${victim}@example.com`),
      '/phishScore': 90 + this.random.below(10),
      '/malwareScore': 0,
      '/messageParts': this.inlineParts(),
      '/threatsInfoMap': [
        {
          classification: 'phish',
          threat,
          threatID: this.hash(),
          threatStatus: 'active',
          threatTime: '2026-06-09T20:54:42.000Z',
          threatType: 'url',
          threatUrl: `https://threatinsight.example.com/${this.random.below(1_000)}`,
        },
      ],
    });
  }

  click(victim = this.user()): ToolEvent {
    const [from, , link] = this.random.of(LURES);
    return createEvent('click', confirmedAttack('phishing'), {
      '/recipient': `${victim}@example.com`,
      '/sender': from!,
      '/url': link! + this.random.below(1_000_000),
      '/clickIP': this.outside(),
    });
  }

  private mail(from: string, subject: string, recipient: string): Record<string, Json> {
    return {
      '/sender': `bounce-${this.random.below(1_000_000)}@${from.split('@')[1]}`,
      '/fromAddress': [from],
      '/recipient': [recipient],
      '/subject': subject,
      '/senderIP': this.outside(),
    };
  }

  /** Text and HTML of the mail. The gateway lists them as parts, but they are no attachments. */
  private inlineParts(): Json {
    return ['plain', 'html'].map((kind) => ({
      disposition: 'inline',
      filename: kind === 'html' ? 'text.html' : 'text.txt',
      contentType: `text/${kind}`,
      oContentType: `text/${kind}`,
      sandboxStatus: null,
      sha256: this.hash(),
    }));
  }

  signIn(outcome: 'SUCCESS' | 'FAILURE'): ToolEvent {
    const failed = outcome === 'FAILURE';
    return createEvent('okta', benign(...LOGIN), {
      ...this.oktaSignIn(this.user(), this.outside()),
      '/severity': failed ? 'WARN' : 'INFO',
      '/outcome': { result: outcome, reason: failed ? 'INVALID_CREDENTIALS' : null },
    });
  }

  suspectedSignIn(): ToolEvent {
    return createEvent('okta', confirmedAttack(...LOGIN), {
      ...this.oktaSignIn(this.user(), this.outside()),
      '/severity': 'WARN',
      '/outcome': { result: 'SUCCESS', reason: null },
      '/client/geographicalContext/country': 'Nigeria',
      '/debugContext/debugData': {
        requestUri: '/idp/idx/identify',
        threatSuspected: 'true',
        risk: '{reasons=Anomalous Location, Anomalous Device, level=HIGH}',
      },
    });
  }

  private oktaSignIn(user: string, ip: string): Record<string, Json> {
    return {
      '/eventType': 'user.session.start',
      '/displayMessage': 'User login to Okta',
      '/actor/alternateId': `${user}@example.com`,
      '/client/ipAddress': ip,
      '/request/ipChain': [{ ip, version: 'V4' }],
      '/client/geographicalContext/country': 'Germany',
      '/target': [],
    };
  }

  reportedMail(bad: boolean): ToolEvent {
    const [from, subject] = this.random.of(bad ? LURES : LETTERS);
    const truth = bad ? attack('phishing', 'bec') : plainMail;
    return createEvent('genericMail', inMailbox(truth), {
      '/data/details/sender': from!,
      '/data/details/recipient': `${this.user()}@example.com`,
      '/data/details/subject': subject!,
      '/data/severity': bad ? 'high' : 'low',
    });
  }

  flaggedMail(bad: boolean): ToolEvent {
    const [from, subject] = this.random.of(bad ? LURES : LETTERS);
    return createEvent('sublime', inMailbox(bad ? attack('phishing', 'bec') : plainMail), {
      '/data/message/sender/email/email': from!,
      '/data/message/mailbox/email/email': `${this.user()}@example.com`,
      '/data/message/subject/subject': subject!,
      '/data/flagged_rules/0/name': bad
        ? 'Credential phishing link'
        : 'Sender is new to the organization',
      '/data/flagged_rules/0/severity': bad ? 'high' : 'low',
    });
  }

  gatewayMail(bad: boolean): ToolEvent {
    const [from, subject] = this.random.of(bad ? LURES : LETTERS);
    const truth = bad ? confirmedAttack('phishing', 'bec') : plainMail;
    return createEvent('emailAlert', inMailbox(truth), {
      '/severity': bad ? 'High' : 'Informational',
      '/category': bad ? 'Phish' : 'Bulk',
      '/data/P2Sender': from!,
      '/data/Subject': subject!,
      '/data/Recipient': `${this.user()}@example.com`,
      '/data/ThreatDetectionMethods': bad ? ['URL detonation'] : ['Bulk'],
    });
  }

  falcon(name: string, tactic: string, technique: string, more: Falcon = {}): ToolEvent {
    const {
      host = this.host(),
      user = this.user(),
      severity = 90,
      file = 'rundll32.exe',
      line = file,
    } = more;
    const truth = more.truth ?? (severity >= 80 ? confirmedAttack(...HOST) : attack(...HOST));
    return createEvent('crowdstrike', truth, {
      '/name': name,
      '/display_name': name,
      '/description': more.description ?? `${name} on ${host}.`,
      '/severity': severity,
      '/severity_name':
        severity >= 80 ? 'Critical' : severity >= 60 ? 'High' : severity >= 40 ? 'Medium' : 'Low',
      '/tactic': tactic,
      '/technique': technique,
      '/user_name': user,
      '/filename': file,
      '/filepath': `\\Device\\HarddiskVolume2\\Windows\\${file}`,
      '/cmdline': line,
      '/sha256': this.hash(),
      '/device/hostname': host,
      '/device/local_ip': this.inside(),
    });
  }

  wazuh(
    level: number,
    description: string,
    groups: readonly string[],
    truth: Truth,
    user = 'root',
  ): ToolEvent {
    const ip = this.outside();
    const host = `srv-${1 + this.random.below(30)}`;
    return createEvent('wazuh', truth, {
      '/rule/level': level,
      '/rule/description': description,
      '/rule/id': String(5_000 + level),
      '/rule/groups': [...groups],
      '/agent/name': host,
      '/predecoder/hostname': host,
      '/data/srcip': ip,
      '/data/dstuser': user,
      '/full_log': `Jun  4 03:06:06 ${host} sshd[7041]: ${description}: ${user} from ${ip}`,
    });
  }

  rootLogin(): ToolEvent {
    const text = 'Authentication success from an address with many failures before';
    return this.wazuh(
      15,
      text,
      ['syslog', 'sshd', 'authentication_success'],
      confirmedAttack(...LOGIN, 'intrusion'),
    );
  }

  failedSsh(): ToolEvent {
    const text = 'sshd: authentication failed.';
    return this.wazuh(5, text, ['syslog', 'sshd', 'authentication_failed'], benign(...LOGIN));
  }

  scan(severity = 3): ToolEvent {
    const truth = severity === 1 ? attack('intrusion') : benign('intrusion');
    return createEvent('suricata', truth, {
      '/src_ip': this.outside(),
      '/dest_ip': this.inside(),
      '/src_port': 1_024 + this.random.below(60_000),
      '/alert/severity': severity,
      '/alert/signature':
        severity === 1 ? 'EXAMPLE SQL injection in a query' : 'EXAMPLE SCAN of a web server',
      '/alert/category': severity === 1 ? 'Web Application Attack' : 'Attempted Information Leak',
    });
  }

  container(critical: boolean): ToolEvent {
    return createEvent(
      'falco',
      critical ? confirmedAttack(...HOST) : benign('intrusion', 'other'),
      {
        '/priority': critical ? 'Critical' : 'Notice',
        '/rule': critical
          ? 'Drop and execute new binary in container'
          : 'Terminal shell in container',
        '/output': critical
          ? 'Executing a binary that is not of the base image (proc=xmrig)'
          : 'A shell was started',
        '/hostname': `node-${1 + this.random.below(9)}`,
        '/output_fields/k8s.pod.name': `web-${this.hash().slice(0, 5)}`,
      },
    );
  }

  defender(
    title: string,
    category: string,
    severity: string,
    user: string,
    truth: Truth,
  ): ToolEvent {
    return createEvent('defenderUser', truth, {
      '/title': title,
      '/category': category,
      '/severity': severity,
      '/evidence/0/userAccount/userPrincipalName': `${user}@example.com`,
      '/evidence/1/ipAddress': this.outside(),
    });
  }

  defenderMail(): ToolEvent {
    const [from, subject] = this.random.of(LETTERS);
    return createEvent('defenderMail', inMailbox(plainMail), {
      '/title': 'Email reported by user as not junk',
      '/category': 'InitialAccess',
      '/severity': 'informational',
      '/evidence/0/subject': subject!,
      '/evidence/0/recipientEmailAddress': `${this.user()}@example.com`,
      '/evidence/0/p2Sender/emailAddress': from!,
      '/evidence/0/p1Sender/emailAddress': from!,
    });
  }

  /** Event of a tool without its own generator: the sample with changes. */
  fromSample(kind: Kind, truth: Truth, changes: Record<string, Json> = {}): ToolEvent {
    return createEvent(kind, truth, changes);
  }

  /** Request with one event from a sample. */
  sample(kind: Kind, truth: Truth, changes: Record<string, Json> = {}): Post {
    return createPost(createEvent(kind, truth, changes));
  }
}

interface Falcon {
  readonly host?: string;
  readonly user?: string;
  readonly severity?: number;
  readonly file?: string;
  readonly line?: string;
  readonly description?: string;
  readonly truth?: Truth;
}
