import {
  all,
  any,
  byTool,
  calming,
  circumstances,
  type Condition,
  evaluate,
  OUTSIDE,
  reads,
  says,
  unless,
  YES,
} from './conditions.js';
import type { Fact, Facts } from './facts.js';
import { onceForEach } from './hosts.js';
import { linksElsewhere } from './mail-rules.js';
import { PROTECTION } from './machine-rules.js';
import {
  failuresOf,
  isActor,
  isKind,
  isRecord,
  severityIs,
  watchesMachines,
} from './tool-rules.js';

/** Matches a text without quotes and equals signs. After such a sign, tools insert texts of strangers. */
const PLAIN = /^[\p{L}\p{N}\s.,:;()[\]/%+_*#&|>→–-]{1,200}$/u;
/** Places that no routine uses: an address of the internet, or a program in the folders of a user. */
const ELSEWHERE =
  /(?<![\d.])(?!0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|\\(?:users|programdata)\\[^"]{0,200}\.(?:exe|dll|ps1|bat|cmd|vbs|js)\b|(?:^|[\s"'])\/(?:tmp|dev\/shm|home)\//i;
const staysHome = onceForEach(
  (facts) => !facts.all.some(({ value }) => ELSEWHERE.test(String(value).slice(0, 500))),
);
/** Things whose change is an act of an administrator or of an attacker, and no routine. */
const PROTECTS =
  /\b(?:protection|variable|secret|token|(?:deploy|access|ssh) key|permission|role|polic(?:y|ies)|firewall|admin\w*|mfa|webhook|collaborator|trail|logging|schedule)s?\b/i;
const MANAGED = byTool(
  'ismanaged managed iscompliant compliant devicemanaged ismanageddevice devicetrust devicemanagementtype',
  /^(?:true|yes|managed|compliant)$/i,
);
const ordinaryWork: Condition = {
  only: (fact, facts) =>
    (staysHome(facts) || evaluate(MANAGED, facts).length > 0) &&
    isKind(fact, facts) &&
    isRecord(fact) &&
    !/eventdata\/description$/.test(fact.path) &&
    !PROTECTS.test(String(fact.value)) &&
    PLAIN.test(String(fact.value)) &&
    !/^(?:Add|Create|Delete|Disable|Put|Remove|Stop|Update)[A-Z]/.test(String(fact.value)) &&
    !facts.saying('grave_word', 'odd_word').some(({ pointer }) => pointer === fact.pointer),
  from: says('ordinary_work'),
};

/** Never holds if the tool rates the event as high or critical, unless it is about a failure of a machine. */
const quiet = (...conditions: readonly Condition[]): Condition => ({
  only: (_, facts) => watchesMachines(facts) || !/high|critical/.test(facts.severity ?? ''),
  from: all(...conditions),
});
/** Finds values at places where a tool writes, and in search results. */
const record = (keys: string, is: Parameters<typeof reads>[1]): Condition => ({
  only: (fact, facts) => isRecord(fact) && isActor(fact, facts),
  from: reads(keys, is),
});
/** Finds values at a place in the tool's own format, by the whole path. */
const placed =
  (path: RegExp, is: RegExp) =>
  (facts: Facts): readonly Fact[] =>
    facts.all.filter((fact) => path.test(fact.path) && is.test(String(fact.value)));

const INSIDE =
  /^(?:::ffff:)?(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|127\.)[\d.]{3,11}(?::\d{1,5})?$|^::1$|^f[cde][\da-f]{2}:|^(?:internal|inside|lan|trust|corp\w*|private)$/i;
const INSIDE_OR_AWS = new RegExp(`${INSIDE.source}|\\.amazonaws\\.com$`, 'i');
const EVERYDAY_PROGRAM =
  /^C:\\Program Files(?: \(x86\))?\\[^"]{1,160}\\(?:chrome|msedge|firefox|ms-?teams|outlook|onedrive|slack|zoom|webex)\.exe$/i;
const EVENT_ID = 'eventid eventcode winlogeventid code';
const windows = (ids: RegExp): Condition => record(EVENT_ID, ids);
const OWN_TASK =
  /^\\(?:Microsoft\\(?:Windows|Office|Configuration Manager|EdgeUpdate)\\[\w .\\()-]{1,120}|(?:GoogleSystem\\GoogleUpdater\\|Mozilla\\)?(?:GoogleUpdate|MicrosoftEdgeUpdate|OneDrive (?:Standalone|Reporting|Per-Machine)|Firefox|Adobe Acrobat Update)[\w .{}-]{0,80})$/i;

/** Display names of services that each Windows has. Windows refuses a second service with the same display name. */
const OWN_SERVICE =
  /^(?:Windows (?:Update|Modules Installer|Installer|Error Reporting Service|Time|Search|License Manager Service)|Background Intelligent Transfer Service|Software Protection|WMI Performance Adapter|Network Setup Service|Device Setup Manager|Volume Shadow Copy|Microsoft Software Shadow Copy Provider|Portable Device Enumerator Service|Diagnostic (?:System|Service) Host|WinHTTP Web Proxy Auto-Discovery Service|Update Orchestrator Service|Delivery Optimization|Print Spooler|Application Experience|Multimedia Class Scheduler|Microsoft Edge Update Service \(edgeupdatem?\)|Google Update Service \(gupdatem?\))$/;

const SYSTEM_ACCOUNT =
  /^(?:(?:nt authority|nt-autorität|window manager|font driver host)\\)?(?:system|local service|network service|lokaler dienst|netzwerkdienst|dwm-\d+|umfd-\d+)$|^S-1-5-(?:18|19|20)$|^(?:[\w.-]+\\)?[\w.-]{1,63}\$(?:@[\w.-]+)?$/i;
const AWS_SERVICE = /^[a-z0-9.-]+\.amazonaws\.com$/;
const KUBE_SYSTEM =
  /^system:(?:serviceaccount:(?:kube-system|kube-node-lease):[\w-]+|node:[\w.-]+|kube-[\w-]+|apiserver)$/;

const ACTORS =
  'username subjectusername targetusername accountname subjectaccountname subjectusersid targetusersid userid usersid user actor actorname initiatedby initiatingusername account principal principalid principalemail caller callername owner runas invokedby';

const sentInside = byTool('internal isinternal intraorg', YES);
/** True for a checked mail without links to other sites. Reports of people may also have a low severity. */
const isHarmlessMail = (facts: Facts): boolean => {
  const { spf, dkim, dmarc, compauth } = facts.authentication;
  const isKnown =
    (spf ?? dkim ?? dmarc ?? compauth) !== undefined || evaluate(sentInside, facts).length > 0;
  return isKnown && linksElsewhere(facts).length === 0;
};

const RECORD_KEYS =
  'eventname operation eventid eventcode path verb eventtype logid methodname syslog event eventid activitydisplayname action cef leef raw message line xml kind webhookevent type logdesc activity operationname error logtype objectkind cmd'.split(
    ' ',
  );
/** An event with so many values says enough, whatever its tool calls them. */
const MANY_FACTS = 7;
const ADDRESSES =
  'ip ipaddress srcip sourceip sourceipaddress sourceaddress sourcenetworkaddress clientip sourceips';
const ACTS =
  'eventname operation operationname activitydisplayname methodname eventtype action activity';
/** Acts and places that no habit explains. One point: they only prevent a benign verdict without an approval. */
// prettier-ignore
export const GUARDED = circumstances([
  ['privileged_act', 1, '', 'drill', '', 'The act changes accounts, rights, keys or protection, which only an approval explains.',
    any(
      reads(ACTS, /^(?:add|attach|create|deactivate|delete|detach|disable|enable|put|remove|reset|schedule|set|stop|update)(?!\w* \(self)[\w .-]{0,60}?(?:mfa|factor|authenticator|password|login ?profile|access ?key|key ?deletion|credential|secret|polic(?:y|ies)|role|member|owner|permission|trail|logging|detector|federation)/i),
      reads(ACTS, /^(?:public_key|deploy_key|hook|integration_installation)\.create$|^(?:user\.mfa|policy|system\.(?:api_token|idp|mfa)|user\.account\.privilege|group\.privilege|group\.user_membership)\.[\w.]*(?:deactivate|delete|grant|add|create|update|reset_all)$|^user\.account\.reset_password$/i),
      all(reads(EVENT_ID, /^(?:1102|4697|4719|4720|4722|472[4-9]|473[2-9]|474[1-3]|475[67]|476[57]|4781|7045)$/), reads('channel computer computername provider providername sourcename', /./)),
      all(windows(/^(?:4698|4702)$/), (facts: Facts) => facts.named('taskname').filter(({ value }) => !OWN_TASK.test(String(value)))),
      all(reads(EVENT_ID, /^(?:7036|7040)$/), reads('param1 servicename', /defender|antivirus|antimalware|event ?log|firewall|sensor|endpoint|security/i)))],
  ['logon_from_internet', 20, 'account_takeover', 'finding', 'T1133', 'A machine accepted a logon of Windows from the internet.',
    unless(reads(EVENT_ID, /^4625$/), all(reads('logontype', /^(?:3|8|10|network|networkcleartext|remoteinteractive)$/i), reads(ADDRESSES, OUTSIDE)))],
  ['other_credentials', 20, 'account_takeover', 'work', 'T1550.002', 'A session got other credentials for the network, as by runas or a stolen hash.',
    all(reads(EVENT_ID, /^4624$/), reads('logontype', /^(?:9|newcredentials)$/i))],
  ['managed_from_outside', 2, '', 'finding', '', 'An address of the internet reached a machine or an interface of administrators.',
    all(any(reads('apiversion', /^audit\.k8s\.io\//), reads('eventtype', /^AwsApiCall$/), reads('program process name description message fulllog', /\bsshd\b|\bAccepted (?:password|publickey)\b/)),
      reads(ADDRESSES, OUTSIDE))],
]);

/** Daily acts of systems and people. If the event also has a sign, the sign always outweighs them. */
// prettier-ignore
export const ROUTINE = calming([
  ['ordinary_work', -20, 'habit', '', 'Systems and people do this all day.',
    quiet(ordinaryWork)],
  ['windows_routine', -20, 'habit', '', 'Windows writes such an event all day.',
    quiet(
      any(
        all(windows(/^4624$/), record('logontype', /^(?:0|2|3|4|5|7|11|13|service|interactive|network|unlock|batch)$/i)),
        all(windows(/^4625$/), record('logontype', /^(?:2|7|11)$/)),
        all(windows(/^(?:4768|4769|4770)$/), record('ticketencryptiontype', /^0x0*1[12]$/i)),
        all(windows(/^4648$/), record('targetservername targetinfo', /^localhost$/i)),
        all(windows(/^(?:5140|5145)$/), record('sharename', /\\(?:SYSVOL|NETLOGON|IPC\$|print\$)$/i)),
        all(windows(/^(?:4698|4699|4700|4701|4702|106|140|141|200|201)$/), record('taskname', OWN_TASK)),
        all(windows(/^4688$/), record(ACTORS, SYSTEM_ACCOUNT), record('newprocessname', /\\Windows\\System32\\(?:taskhostw|svchost|conhost|backgroundtaskhost|runtimebroker|searchindexer|dllhost|usoclient|sppsvc|wermgr|compattelrunner)\.exe$/i)),
        all(windows(/^5136$/), record('objectclass', /^dnsNode$/)),
        all(windows(/^10$/), record('sourceimage', PROTECTION)),
        all(windows(/^11$/), record('targetfilename', /^C:\\Windows\\(?:SoftwareDistribution|Prefetch|WinSxS|Logs)\\/i)),
        all(windows(/^4672$/), record(ACTORS, SYSTEM_ACCOUNT)),
        all(windows(/^(?:7036|7040)$/), record('param1', OWN_SERVICE)),
        all(windows(/^4776$/), record('status errorcode', /^0x0$/i)),
        windows(/^(?:4608|4616|4634|4647|4689|4798|4799|4826|4902|5024|5033|5158|5379|5857|6005|6006|6009|6013|7001|7002|10016|1074|1500|1501|1502|1503|43|44|1000|1001|1150|1151|2000|2002|2014)$/)))],
  ['ordinary_sign_in', -20, 'habit', '', 'A managed device or a machine of the own network signed in with a second factor, or with a wrong password.',
    quiet(
      any(MANAGED, record('ip ipaddress sourceip srcip clientip', INSIDE)),
      any(record('authenticationrequirement mfa mfaused mfaresult mfastatus', /^(?:multifactorauthentication|true|yes|success\w*|satisfied|passed|completed)$/i), record('errorcode', /^50126$/)))],
  ['known_sign_in', -20, 'habit', '', 'The provider compared the sign-in with earlier sign-ins and found nothing new.',
    quiet(placed(/^debugcontext\/debugdata\/behaviors$/, /^(?=.*NEGATIVE)(?!.*POSITIVE)/), placed(/^debugcontext\/debugdata\/risk$/, /\blevel=LOW\b/))],
  ['reads_settings', -20, 'habit', '', 'A service or a colleague inside reads settings of machines, and no secrets or rights.',
    quiet(any(
      all(record('readonly', YES), record('sourceipaddress', INSIDE_OR_AWS), record('eventname', /^(?:(?:Describe|List|Get|Head|Lookup|BatchGet)(?!\w*(?:Secret|Password|Credential|Authorization|Token|Parameter|User|Role|Polic|Key))\w*|Decrypt|GenerateDataKey)$/)),
      all(placed(/^objectref\/resource$/, /^(?!secrets|\w*roles|\w*bindings|serviceaccounts)\w+$/), record('verb', /^(?:get|list|watch)$/), placed(/^user\/username$/, /^(?!system:)/), record('sourceips', INSIDE), placed(/^responsestatus\/code$/, /^2\d\d$/)),
      all(record('service', /^(?:dns|ntp|dhcp|ldap|snmp|krb(?:_tcp)?)$/), record('localresp', YES))))],
  ['everyday_program', -20, 'habit', '', 'A browser, mail program or meeting that administrators installed did it.',
    quiet(windows(/^(?:1|3|22)$/), unless(reads('commandline', /--(?:headless|load-extension|remote-debugging|no-sandbox|app=)/), record('image', EVERYDAY_PROGRAM)))],
  ['failure_of_machine', -20, 'habit', '', 'A machine or its resources fail, and nothing leads to another network or to the folders of a user.',
    { only: (_, facts) => staysHome(facts), from: failuresOf }],
  // Firewalls reject scanners from the whole internet all day.
  ['refused_at_the_edge', -32, 'habit', '',
    'A firewall refused a connection from outside.',
    quiet(
      record('action disposition result', /^(?:deny|denied|drop(?:ped)?|reject(?:ed)?|block(?:ed)?(?:-ip)?|reset-(?:both|client|server))$/i),
      record('src srcip sourceip sourceaddress srcaddr clientip', OUTSIDE),
      record('dstport destport destinationport dpt destports', /^\d{1,5}(?:,\d{1,5}){0,20}$/))],
  /* An attacker with the rights of the system also has these names. */
  ['system_account', -20, 'who', '', 'An account of the system itself did it.',
    any(
      record(ACTORS, SYSTEM_ACCOUNT), record('actorisbot', /^true$/i), record('unit', /\.(?:service|timer)$/),
      placed(/(?:useridentity|actor|initiatedby)\/type$/, /^(?:SystemPrincipal|Application|ServicePrincipal|System|Bot)$/i))],
  ['component_of_platform', -20, 'habit', '', 'A service of the cloud or a component of the cluster did it by itself.',
    any(
      record('sourceipaddress', AWS_SERVICE), record(ACTORS, AWS_SERVICE), record(ACTORS, KUBE_SYSTEM), placed(/useridentity\/type$/, /^AWSService$/),
      { only: ({ path }: Fact) => /(?:^|\/)source\/component$/.test(path), from: record('component', /^(?:kubelet|default-scheduler|[\w-]+-controller)$/) })],
  ['everyday_act', -20, 'habit', '', 'The act ends a session, changes the own password, or checks a connection.',
    quiet(any(
      windows(/^4723$/), record('eventtype eventname operation activitydisplayname action', /^(?:user\.session\.end|user\.account\.update_password|UserLoggedOff|(?:log|sign)[ -]?(?:out|off)|change password \(self-service\)|tunnel-down)$/i),
      record('signature', /^(?:GPL ICMP_INFO PING|ET INFO (?:Windows (?:Update|Delivery)|Session Traversal|Spotify|.{0,40}NTP)).*/)))],
  ['network_inside', -8, 'who', '', 'The source is inside the own network, or the machine itself.',
    { only: ({ path }: Fact, { isMail }: Facts) => !isMail && !/(?:agent|host|device|endpoint)\//.test(path), from: record('ip ipaddress srcip sourceip sourceipaddress sourceaddress sourcenetworkaddress clientipaddress clientip calleripaddress callerip src sourceips srczone sourcezone fromzone client remoteip remoteaddress', INSIDE) }],
  ['went_well', -14, 'who', '', 'The event ended successfully.',
    record('keywords eventtype outcome result resultstatus activityresult status statuscode resulttype errorcode responsecode substate success succeeded successful conclusion', /^(?:audit[ _]success|0x8020000000000000|success(?:ful|fully)?|succeeded|ok|0|0x0|allow(?:ed)?|true|yes|passed|completed|finished|200|resolved|none)$/i)],
  ['plain_mail', -15, 'habit', 'sender', 'The sender is proven, and no link leads to another domain.',
    (facts: Facts) => (facts.isMail && linksElsewhere(facts).length === 0 ? facts.vouched('dmarc') : [])],
  ['rated_low', -20, 'who', '', 'The tool rates the event as low, and nothing in it is odd.',
    { only: (_, facts) => !facts.isMail || isHarmlessMail(facts), from: severityIs('low') }],
  ['says_enough', -8, 'who', '', 'The event names the action, and the account, machine or mail that it concerns.',
    (facts: Facts) => {
      const isReport = facts.all.some(({ key }) => /^report(?:er|edby)/.test(key));
      const raw = facts.all.filter((fact) => fact.source === undefined && isRecord(fact));
      const isLine = raw.some(({ key, value }) => RECORD_KEYS.includes(key) && String(value).length >= 80);
      if ((raw.length < 3 && !isLine) || (isReport && !facts.isMail)) return [];
      const act = raw.find((fact) => isKind(fact, facts)) ?? raw.find(({ key }) => RECORD_KEYS.includes(key)) ?? (facts.isMail || raw.length >= MANY_FACTS ? raw[0] : undefined);
      return act ? [act] : [];
    }],
], true);
