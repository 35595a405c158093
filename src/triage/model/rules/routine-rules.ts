import { all, any, byTool, calming, type Condition, reads, recorded, YES } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import { callSucceeded, replicationByController } from './looks.js';
import { mailAsksNothing, noThreatNamed } from './mail-looks.js';

/** Where the tool rates the event as high or critical, nothing is a routine. */
const quiet = (...conditions: readonly Condition[]): Condition => ({
  only: (_: Fact, { severity }: Facts) => severity !== 'high' && severity !== 'critical',
  from: all(...conditions),
});

const INSIDE =
  /^(?:::ffff:)?(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|127\.)[\d.]{3,11}$|^::1$|^f[cde][\da-f]{2}:/i;
const EVENT_ID = 'eventid eventcode winlogeventid code';
const windows = (ids: RegExp): Condition => byTool(EVENT_ID, ids);
/** Values at a place of the tool's own format, by its whole path. */
const placed =
  (path: RegExp, is: RegExp) =>
  (facts: Facts): readonly Fact[] =>
    facts.all.filter((fact) => path.test(fact.path) && is.test(String(fact.value)));
const loggedAs = (providers: RegExp): Condition =>
  byTool('provider providername sourcename productname', providers);

/** Accounts of the system itself: no person signs in with them. */
const SYSTEM_ACCOUNT =
  /^(?:(?:nt authority|nt-autorität|window manager|font driver host)\\)?(?:system|local service|network service|lokaler dienst|netzwerkdienst|dwm-\d+|umfd-\d+)$|^S-1-5-(?:18|19|20)$|^(?:[\w.-]+\\)?[\w.-]{1,63}\$(?:@[\w.-]+)?$/i;
const AWS_SERVICE = /^[a-z0-9.-]+\.amazonaws\.com$/;
const KUBE_SYSTEM =
  /^system:(?:serviceaccount:(?:kube-system|kube-node-lease):[\w-]+|node:[\w.-]+|kube-[\w-]+|apiserver)$/;

/** Programs of the system that start no others on command, where they belong. */
const SYSTEM_PROGRAM =
  /^"?(?:c:|\\device\\harddiskvolume\d+)\\windows\\(?:system32|syswow64|servicing|winsxs\\[\w.-]+)\\(?:svchost|taskhostw|backgroundtaskhost|runtimebroker|search(?:indexer|protocolhost|filterhost)|spoolsv|sppsvc|usoclient|wuauclt|musnotification\w*|mousocoreworker|sihost|ctfmon|smartscreen|audiodg|wermgr|compattelrunner|fontdrvhost|wudfhost|tiworker|trustedinstaller|gpupdate|defrag|vssvc|services|wininit|winlogon|csrss|smss|dwm|logonui|lsass|dllhost|conhost)\.exe"?$/i;
const SYSTEM_PATH =
  /^(?:c:|\\device\\harddiskvolume\d+)\\windows\\(?:system32|syswow64)\\(?:svchost|services|lsass|wininit|dns|dfsrs|ismserv|spoolsv|taskhostw|searchindexer|wbem\\wmiprvse|mmc|explorer)\.exe$/i;
const SYSTEM_PARENT =
  /^"?(?:c:|\\device\\harddiskvolume\d+)\\windows\\(?:system32|servicing)\\(?:services|svchost|wininit|smss|winlogon|csrss|trustedinstaller|searchindexer)\.exe"?$/i;
const OFFICE_PROGRAM =
  /^"?c:\\program files(?: \(x86\))?\\(?:google\\(?:chrome|update)|mozilla firefox|microsoft\\edge(?:update|webview)?|microsoft office|microsoft onedrive|windowsapps\\msteams_[\w.-]+|windows defender|adobe\\acrobat[\w ]*|zoom)\\[^"]{1,120}\.exe"?$/i;
const OFFICE_PARENT =
  /^"?c:\\(?:windows\\(?:explorer|system32\\(?:services|svchost|userinit))\.exe|program files(?: \(x86\))?\\(?:google|mozilla firefox|microsoft(?: office| onedrive|\\edge\w*)?|adobe|zoom|windowsapps\\msteams_[\w.-]+)\\[^"]{1,120}\.exe)"?$/i;
const IMAGE = 'image newprocessname processpath executable';
const PARENT = 'parentimage parentprocessname parentprocesspath parentexecutable';

const signedIn = any(
  byTool('errorcode', /^0$/),
  byTool('resulttype', /^0$/),
  byTool('consolelogin', /^Success$/),
  all(byTool('action', /^tunnel-up$/), byTool('reason', /^login success/i)),
  all(
    reads('eventtype', /^user\.(?:session\.start|authentication\.(?:sso|auth_via_mfa|verify))$/),
    byTool('result', /^(?:SUCCESS|ALLOW)$/),
  ),
  all(
    byTool('operation', /^UserLoggedIn$/),
    byTool('resultstatus', /^(?:Success|Succeeded|True)$/i),
  ),
);

/** What systems and people do all day. A sign beside it always counts more. Each row but the last asks for the success of the operation. */
// prettier-ignore
export const ROUTINE = calming([
  // An attacker with the rights of the system acts as it, too: it takes a routine operation beside it.
  ['system_account', -20, 'role', '',
    'An account of the system itself did it.',
    any(
      byTool('username subjectusername targetusername accountname subjectusersid targetusersid userid usersid user sid', SYSTEM_ACCOUNT),
      byTool('invokedby sourceipaddress', AWS_SERVICE), { only: ({ path }: Fact) => /useridentity\/type$/.test(path), from: byTool('type', /^AWSService$/) },
      byTool('username', KUBE_SYSTEM), byTool('actorisbot', YES),
      placed(/(?:^|\/)authenticationinfo\/principalemail$/, /gserviceaccount\.com$/), placed(/^outputfields\/k8s\/ns\/name$/, /^(?:kube-system|kube-node-lease|calico-system)$/),
      { only: ({ path }: Fact) => /(?:^|\/)actor\/type$/.test(path), from: byTool('type', /^SystemPrincipal$/) }, { only: ({ path }: Fact) => /(?:^|\/)source\/component$/.test(path), from: byTool('component', /^(?:kubelet|default-scheduler|[\w-]+-controller)$/) })],
  ['ordinary_logon', -20, 'routine', '', 'Windows reports an ordinary logon.',
    quiet(
      windows(/^4624$/), byTool('logontype', /^(?:0|2|3|4|5|7|11|13|service|interactive|network|unlock|batch)$/i),
      any(byTool('authenticationpackagename', /^(?:kerberos|negotiate|microsoftaccount)/i), byTool('targetusersid targetusername username', SYSTEM_ACCOUNT)))],
  ['ordinary_logoff', -20, 'routine', '', 'Windows reports the end of a session.',
    quiet(windows(/^(?:4634|4647)$/), byTool('logontype targetusername channel', /\S/))],
  ['ordinary_ticket', -20, 'routine', '',
    'The directory issued an ordinary Kerberos ticket in a strong cipher.',
    quiet(
      windows(/^(?:4768|4769|4770)$/), byTool('ticketencryptiontype', /^0x0*1[12]$/i), byTool('status resultcode', /^0x0$/i))],
  ['ordinary_credentials', -20, 'routine', '',
    'A domain controller checked a password, and it was right.',
    quiet(windows(/^4776$/), byTool('status errorcode', /^0x0$/i))],
  ['one_wrong_password', -20, 'routine', '', 'Somebody at the machine itself typed a wrong password.',
    quiet(windows(/^4625$/), byTool('logontype', /^(?:2|7|11)$/), byTool('substatus', /^0xc000006a$/i))],
  ['ordinary_runas', -20, 'routine', '', 'A person used a second account at the own machine.',
    quiet(windows(/^4648$/), byTool('targetservername targetinfo', /^localhost$/i))],
  ['ordinary_share', -20, 'routine', '', 'A machine read the shares that each domain controller offers.',
    quiet(windows(/^(?:5140|5145)$/), byTool('sharename', /\\(?:SYSVOL|NETLOGON|IPC\$)$/i))],
  ['system_reports', -20, 'routine', '', 'Windows reports that it started, stopped or kept its time.',
    quiet(windows(/^(?:4608|4616|4826|4902|5024|5033|6005|6006|6009|6013|7036|7040|5156|5158|4798|4799)$/), any(byTool('processname application callerprocessname image', SYSTEM_PATH), byTool('param1 servicename', /\S/), windows(/^(?:4608|4826|4902|5024|5033|600[569]|6013)$/)))],
  ['at_the_machine', -8, 'where', '', 'The logon happened at the machine itself.',
    byTool('logontype', /^(?:2|5|7|11|13)$/)],
  ['audit_success', -8, 'harmless', '', 'Windows marks the event as a success.',
    byTool('keywords outcome', /^(?:audit success|0x8020000000000000|success)$/i)],
  // Every administrator and service receives these rights at each logon.
  ['rights_of_logon', -20, 'routine', '',
    'Windows lists the rights of a logon. Each administrator and service has them.',
    quiet(windows(/^4672$/))],
  ['system_task', -20, 'routine', '', 'A task of Windows itself was registered or changed.',
    quiet(
      windows(/^(?:4698|4699|4700|4701|4702|106|140|141|200|201)$/),
      byTool('taskname', /^\\(?:Microsoft\\(?:Windows|Office|Configuration Manager|EdgeUpdate)\\[\w .\\()-]{1,120}|(?:GoogleSystem\\GoogleUpdater\\|Mozilla\\)?(?:GoogleUpdate|MicrosoftEdgeUpdate|OneDrive|Firefox|Adobe Acrobat Update)[\w .{}-]{0,80})$/i))],
  // A program that was replaced or taken over in memory looks the same.
  ['system_program', -20, 'routine', '', 'A program of Windows was started by Windows.',
    quiet(byTool(IMAGE, SYSTEM_PROGRAM), byTool(PARENT, SYSTEM_PARENT))],
  ['office_program', -20, 'routine', '', 'An everyday program was started in its own folder.',
    quiet(byTool(IMAGE, OFFICE_PROGRAM), byTool(PARENT, OFFICE_PARENT))],
  ['directory_replication', -30, 'routine', '', 'Domain controllers replicate the directory.',
    replicationByController],
  ['protection_reads', -20, 'routine', '', 'A protection program asks a process for its state.',
    quiet(
      byTool('sourceimage', /^c:\\(?:program files(?: \(x86\))?|programdata\\microsoft)\\(?:microsoft\\)?windows defender\\[^"]{1,120}\\?ms(?:mpeng|sense)\.exe$/i),
      byTool('sourceuser user', SYSTEM_ACCOUNT))],
  ['update_installed', -20, 'proof', 'rating', 'Windows installed or checked an update.',
    any(
      quiet(windows(/^(?:19|43|44)$/), loggedAs(/WindowsUpdateClient$/i)),
      quiet(windows(/^(?:1000|1001|1150|1151|2000|2002|2014)$/), loggedAs(/^(?:Microsoft-Windows-)?Windows Defender$|^Microsoft Defender Antivirus$/i)))],
  ['check_passed', -20, 'proof', 'rating', 'A check of the settings passed.',
    quiet({ only: ({ path }: Fact) => /(?:^|\/)compliance\/status$/.test(path), from: byTool('status', /^PASSED$/) })],
  ['system_updater', -20, 'routine', '', 'A program of the system installs updates.',
    quiet(byTool('imagefilename exe procexe processpath executable image', /^\/usr\/(?:s?bin|lib\S{0,20})\/(?:softwareupdate|apt(?:-get)?|dnf|yum|unattended-upgrade|snapd|zypper|packagekitd)$/))],
  ['cluster_works', -20, 'routine', '', 'The cluster reports an ordinary step of its work.',
    quiet(byTool('kind', /^Event$/), byTool('type', /^Normal$/), byTool('reason', /^(?:Pulled|Pulling|Created|Started|Scheduled|SuccessfulCreate|SuccessfulDelete|ScalingReplicaSet|Completed|SawCompletedJob|LeaderElection|SuccessfulRescale|NodeReady|RegisteredNode)$/))],
  ['code_service_works', -20, 'routine', '', 'The code service reports an ordinary step of its work.',
    quiet(byTool('action', /^(?:git\.(?:fetch|push)|workflows\.(?:completed|created)_workflow_run|checks\.\w+|pull_request\.\w+|org\.(?:add|update)_member|team\.(?:add|remove)_member|repo\.access_granted)$/))],
  ['sensor_noise', -20, 'routine', '', 'The rule reports a step that parts of the cluster or packages do all day.',
    quiet(byTool('rule', /^(?:Contact K8S API Server From Container|Launch Package Management Process in Container|Write below (?:etc|rpm database|binary dir)|Update Package Repository|Non sudo setuid|Redirect STDOUT\/STDIN to Network Connection in Container|Change thread namespace)$/), any(placed(/^outputfields\/k8s\/ns\/name$/, /^(?:kube-system|calico-system)$/), placed(/^outputfields\/proc\/(?:pname|name|aname)/, /^(?:dpkg|apt|apt-get|rpm|yum|dnf|apk|snapd|unattended-upgr|needrestart)$/)))],
  ['ordinary_connection', -20, 'routine', '', 'An everyday program connected to an ordinary port.',
    quiet(byTool(EVENT_ID, /^3$/), any(byTool(IMAGE, OFFICE_PROGRAM), byTool(IMAGE, SYSTEM_PATH)), byTool('destinationport', /^(?:80|443|53|123)$/))],
  ['ordinary_library', -20, 'routine', '', 'A system program loaded a signed library of the system.',
    quiet(byTool(EVENT_ID, /^7$/), byTool('imageloaded', /^c:\\windows\\(?:system32|syswow64|winsxs)\\[\w.\\-]{1,120}\.dll$/i), byTool('signature', /^Microsoft (?:Windows|Corporation)$/i), byTool('signaturestatus', /^Valid$/i))],
  ['system_looks_up', -20, 'routine', '', 'A program of the system looked up a name.',
    quiet(byTool(EVENT_ID, /^22$/), byTool(IMAGE, SYSTEM_PATH), byTool('querystatus', /^0$/))],
  ['expected_success', -20, 'routine', '', 'The rule only records a success that is expected.',
    quiet({ only: ({ path }: Fact) => /(?:^|\/)rule\/description$/.test(path), from: byTool('description', /^(?:Successful sudo|PAM: Login session (?:opened|closed)|sshd: authentication success|Windows logon success|Windows user logoff|Dpkg \(|Yum |New dpkg)/i) })],
  ['read_only_call', -20, 'routine', '', 'The call only read, or renewed a certificate.',
    quiet(
      any(
        byTool('readonly', /^true$/i), placed(/(?:^|\/)protopayload\/methodname$/, /(?:^|\.)(?:get|list|batchGet|aggregatedList|search)[A-Za-z]*$/i),
        all(byTool('operationname', /\/read$|^(?:SecretGet|SecretList|KeyGet|CertificateGet|VaultGet|CertificateRenew|CertificateUpdate)$/i), byTool('resulttype', /^Success$/i)),
        byTool('operation', /^(?:File(?:Accessed|Previewed|Downloaded|SyncDownloadedFull|Modified)|PageViewed|MeetingParticipantDetail|MeetingDetail|SearchQueryPerformed)$/), all(byTool('verb', /^(?:get|list|watch)$/), byTool('code', /^2\d\d$/), byTool('username', KUBE_SYSTEM))),
      any(callSucceeded, byTool('code', /^2\d\d$/), placed(/(?:^|\/)authorizationinfo\/granted$/, /^true$/)))],
  ['service_call', -20, 'routine', '', 'A service of the cloud did its work for the account.',
    quiet(
      any({ only: ({ path }: Fact) => /useridentity\/type$/.test(path), from: byTool('type', /^AWSService$/) }, byTool('username', /^AWSServiceRoleFor\w+$/)),
      byTool('sourceipaddress', AWS_SERVICE), callSucceeded)],
  // A stolen session looks the same where the directory sees no risk.
  ['sign_in_without_risk', -10, 'routine', '', 'The sign-in succeeded.', quiet(signedIn)],
  // A stolen mailbox passes all checks, too, so the gateway has to find the mail clean as well.
  ['mail_asks_nothing', -15, 'routine', '',
    'A proven sender wrote a mail that asks for nothing and links nowhere else.',
    mailAsksNothing],
  ['gateway_saw_nothing', -12, 'clean', '', 'The gateway delivered the mail and names no threat.',
    any(
      all(byTool('deliveryaction', /^delivered$/i), noThreatNamed),
      all(byTool('act', /^Acc$/), byTool('spamscore', { max: 4 })))],
  ['factor_used', -8, 'factor', '', 'A second factor was given, now or by an earlier sign-in.',
    any(
      byTool('authenticationrequirement', /^multiFactorAuthentication$/i), byTool('mfaused mfaauthenticated', /^(?:yes|true)$/i),
      byTool('authtype', /\bmfa\b/i), placed(/^(?:detail\/|records\/|event\/)?useridentity\/sessioncontext\/attributes\/mfaauthenticated$/, /^true$/),
      recorded(/additionaldetails$/, /^MFA (?:requirement satisfied|completed)/i))],
  ['own_key', -20, 'routine', '', 'A key of the account opened the session.',
    quiet(byTool('message fulllog', /^(?:\w{3}\s+\d+ [\d:]+ [\w.-]+ )?(?:sshd\S{0,12}: )?Accepted publickey for [\w.-]{1,32} from [\da-f.:]{3,45} port \d+/))],
  ['timed_job', -20, 'routine', '', 'The scheduler ran a job of the system.',
    quiet(
      byTool('program processname appname ident', /^(?:cron|crond|anacron)$/i),
      byTool('message fulllog', /\bCMD \(\s*(?:command -v debian-sa1|test -x \/usr\/bin\/certbot |cd \/ && run-parts|test -x \/usr\/sbin\/anacron|\/usr\/(?:s?bin|lib|libexec)\/[^;|&`$<>]{1,100}\))/))],
  ['health_checked', -20, 'routine', '', 'A health check was answered.',
    quiet(
      byTool('url uri path requesturi', /^(?:https?:\/\/[\w.-]{1,100}(?::\d+)?)?\/(?:health|healthz|livez|readyz|ready|ping|status|metrics|actuator\/health)\/?$/i),
      byTool('status statuscode responsecode responsestatus', /^2\d\d$/))],
  ['job_succeeded', -20, 'routine', '', 'A job of operations ended with success.',
    quiet(recorded(/^(?:job|backup|task|sync|update|patch|rotation|renewal|maintenance|deployment|restore|replication)\w*(?:status|result|state|outcome)$/, /^(?:success(?:ful(?:ly)?)?|succeeded|completed|ok|finished|done|passed)$/i))],
  // Scanners of the whole network are refused all day.
  ['refused_at_the_edge', -20, 'routine', '',
    'A firewall refused a connection from outside.',
    quiet(
      byTool('action disposition result', /^(?:deny|denied|drop(?:ped)?|reject(?:ed)?|block(?:ed)?(?:-ip)?|reset-(?:both|client|server))$/i),
      byTool('src srcip sourceip sourceaddress srcaddr clientip', /^(?!10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|127\.)\d{1,3}(?:\.\d{1,3}){3}$/),
      byTool('dstport destport destinationport dpt destports', /^\d{1,5}(?:,\d{1,5}){0,20}$/), any(byTool('protocol proto transport ipprotocol', /^(?:tcp|udp|icmp|6|17|1)$/i), byTool('srczone sourcezone fromzone', /^(?:untrust|outside|wan|internet|external)/i)))],
  ['nothing_transferred', -8, 'harmless', '', 'No data was transferred.',
    byTool('bytesin bytesout bytesreceived bytestoclient bytestoserver sessionsallowed', /^0$/)],
  ['low_level', -8, 'harmless', '', 'The tool writes the event as information.',
    quiet(any({ only: ({ path }: Fact) => /(?:^|\/)rule\/level$/.test(path), from: byTool('level', { max: 3 }) }, byTool('level severity loglevel severitylabel priority', /^(?:info|informational|information|notice|debug|low)$/i)))],
  ['network_inside', -8, 'where', '', 'The source is inside the own network, or the machine itself.',
    { only: ({ path }: Fact, { isMail }: Facts) => !isMail && !/(?:agent|host|device|endpoint)\//.test(path), from: byTool('ip ipaddress srcip sourceip sourceipaddress sourceaddress sourcenetworkaddress clientipaddress clientip calleripaddress src sourceips', INSIDE) }],
], true);
