import {
  all,
  any,
  atLeast,
  byTool,
  circumstances,
  type Condition,
  isFalse,
  isTrue,
  type Look,
  OUTSIDE,
  reads,
  says,
  signs,
  tells,
  unless,
} from './conditions.js';
import type { Fact, Facts } from './facts.js';
import { RULE_KEYS } from './tool-rules.js';

const REQUEST_KEYS =
  'uri url path p query querystring request requesturi requesturl requestline requestbody httpurl httprequest args matcheddata payload postdata body parameter useragent httpuseragent referer'.split(
    ' ',
  );
/** Keys that occur only in requests to servers. The other REQUEST_KEYS also occur in mails. */
const ONLY_OF_REQUESTS = REQUEST_KEYS.filter((key) =>
  /^(?:uri|querystring|request\w*|http\w+)$/.test(key),
);

/** Patterns of attacks in a decoded request. Each repetition is limited, which prevents excessive backtracking. */
const ATTACKS: readonly RegExp[] = [
  /\bunion\s{1,20}(?:all\s{1,20})?select\b/i,
  /['"]\s{0,9}(?:or|and)\s{1,9}['"(]{0,3}\w{1,20}['"]{0,2}\s{0,9}=/i,
  /;\s{0,9}drop\s{1,9}table\b|\bwaitfor\s{1,9}delay\b|\b(?:pg_)?sleep\s{0,3}\(\s{0,3}\d|information_schema\.|xp_cmdshell/i,
  /(?:\.\.[\\/]){2}|\.\.[\\/]{1,3}(?:etc|windows|proc)\b|[\\/]etc[\\/](?:passwd|shadow)\b|[\\/]windows[\\/]win\.ini/i,
  /(?:[;|`]|&&|\$\()\s{0,9}(?:cat|id|whoami|wget|curl|nc|bash|sh|ping|uname|powershell|cmd(?:\.exe)?)\b(?!\s{0,3}=)/i,
  /(?<!\/exec)[?&](?:cmd|exec|command)=(?:whoami|id|cat|ls|dir|uname|net|ipconfig|ifconfig|type)\b|\$\{jndi:/i,
  /class\.module\.classloader|autodiscover\.json\?\S{0,40}@|x-rps-cat|php:\/\/(?:input|filter)|\b(?:eval|passthru|shell_exec|base64_decode)\s{0,3}\(/i,
  /<script\b|\bonerror\s{0,5}=/i,
];
const LONGEST_REQUEST = 8_192;

/** Decodes percent signs twice, because an attacker may encode the request twice to pass a filter. */
const asRead = (request: string): string =>
  unescaped(unescaped(request.slice(0, LONGEST_REQUEST).replaceAll('+', ' '))).replaceAll(
    '/**/',
    ' ',
  );
const unescaped = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

const requestsOf = (facts: Facts): readonly Fact[] =>
  facts.isMail
    ? facts.named(...ONLY_OF_REQUESTS)
    : [
        ...facts.named(...REQUEST_KEYS),
        ...facts.all.filter(({ value }) => /^(?:GET|POST|PUT|DELETE|HEAD) \//.test(String(value))),
      ];

export const requestLikeAttack: Look = (facts) =>
  requestsOf(facts).flatMap((fact) => {
    const text = asRead(String(fact.value));
    const words = ATTACKS.map((attack) => attack.exec(text)?.[0]).find(Boolean);
    return words === undefined ? [] : [{ ...fact, words }];
  });
/** Finds an attack that the tool names. Excludes findings in code: a weakness has the name of its attack. */
export const webAttackNamed: Condition = {
  only: ({ key }, { fields }) => fields.repository === undefined && !REQUEST_KEYS.includes(key),
  from: tells('web_attack'),
};

const requestLetThrough = all(
  any(requestLikeAttack, webAttackNamed),
  any(
    reads('status statuscode responsecode httpstatus responsestatus', /^(?:2\d\d|500)$/),
    reads(
      'wafaction action disposition mode',
      /^(?:detect(?:ed)?|log(?:ged)?(?: only)?|alert(?:ed)?|allow(?:ed)?|pass(?:ed)?|monitor(?:ed)?|count)$/i,
    ),
    isFalse('blocked prevented'),
  ),
);

/** Only domain controllers and the cloud synchronisation replicate the directory, so any other account is a sign. */
const replicationByUser = all(
  reads('properties accesses objectproperties', /1131f6a[ad]-9c07|89e95b76-444d/i),
  reads(
    'subjectusername subjectuser accountname user username',
    /^(?!(?:[\w-]*dc[\w-]*\$$|(?:msol_|aad_|adsyncmsa)\S*$))/i,
  ),
);
const severalValues =
  (keys: string): Look =>
  (facts) => {
    const found = facts.named(...keys.split(' '));
    return found.length > 2 ? found : [];
  };
/** True for the antivirus test file, because tools report it under a name with words such as `virus`. */
const isTestFile = ({ key, value }: Fact): boolean =>
  /^(?:threat|threatname|detection|signature)$/.test(key) &&
  /^[\w:./-]{0,40}\beicar(?:\b|_)/i.test(String(value).slice(0, 100));

export const isParent = ({ path }: Fact): boolean =>
  /(?:^|[/_])\w*(?:parent|initiatingprocess|ppname|procpname|pname)\w*(?:\/(?:name|filename|executable|image|path))?$/.test(
    path,
  );

const RENAMED = /files?\w*renamed\w*|renamed?\w*(?:files|count)?$/;
const CHANGED =
  /files?\w*(?:changed|modified|written|rewritten|touched)\w*|(?:changed|modified|written)files\w*/;
const PATH_KEYS =
  'path file image filename executable processexecutable commandline cmd cmdline command args process processtree target';
const notSigned = any(
  {
    only: ({ key, path }) => key !== 'trusted' || !/device|client|location/.test(path),
    from: reads(
      /signed$|signature(?:valid|verified|trusted)$|^trusted$|codesign\w*$/,
      /^(?:false|no|0|unsigned|not signed|none)$/i,
    ),
  },
  reads('signer signature', /^(?:none|unsigned|invalid|revoked|expired)\b/i),
);
export const PROTECTION =
  /\\(?:windows defender|windows security|crowdstrike|sentinelone|cylance|sophos|symantec|trend micro|mcafee|carbon ?black|eset|bitdefender|qualys|tanium|elastic)\\|\\system32\\(?:csrss|wininit|services|lsm|werfault|wbem\\wmiprvse)\.exe$/i;
const byProtection = byTool('sourceimage sourceprocess', PROTECTION);
const programOfWindowsFolder = reads(
  /imagepath|servicefile|binpath/,
  /^"?(?:%systemroot%|%windir%|c:\\windows)\\(?!psexesvc)[\w.-]+\.exe\b/i,
);
const TARGETS = 'hosts targethosts targets desthosts targetedhosts';
const ENCODED = /\b(?:powershell|pwsh)\b.{0,200}\s[-/]e\w*\s+["']?[\w+/=]{16}/i;
const OFFICE =
  /(?:^|[\\/])(?:winword|excel|powerpnt|outlook|onenote|msaccess|acrord32|ms-teams)\.exe$/i;
const SHELL = /^"?(?:[a-z]:\\[^"]{1,200}\\)?(?:powershell|pwsh|cmd)(?:\.exe)?(?:["\s]|$)/i;
/** Folders in which any user may write. */
const ANYBODYS =
  /\\(?:users\\[^\\]+\\(?:appdata|downloads)|users\\public|perflogs|windows\\temp|programdata(?!\\(?:microsoft|chocolatey|package cache)\\))\\|^\/(?:tmp|dev\/shm|var\/tmp)\//i;
const QUIET_TOOL =
  /(?:^|[\\/])(?:mshta|regsvr32|rundll32|certutil|[cw]script|installutil|regasm|cmstp|odbcconf|notepad|calc|mspaint)\.exe$/i;
const WEB_SERVER =
  /(?:^|[\\/])(?:w3wp|httpd|apache2?|nginx|php-fpm[\d.]*|php-cgi|tomcat\d*)(?:\.exe)?$/i;
const SYSTEM_TOOL =
  /(?:^|[\\/])(?:mshta|regsvr32|rundll32|certutil|bitsadmin|msiexec|wmic|cscript|wscript|installutil|regasm|cmstp|hh|odbcconf|msbuild)(?:\.exe)?$/i;

// prettier-ignore
export const MACHINE_RULES = [...signs([
  ['backups_destroyed', 65, 'ransomware', '', 'T1490 T1486',
    'Backups are deleted or machines are stopped by force. Ransomware does this before it encrypts.',
    says('backups_destroyed')],
  ['backups_removed', 18, 'ransomware', 'work', 'T1490',
    'Backups or snapshots were removed. Retention does that, too, and so does ransomware.',
    says('backups_removed')],
  ['ransomware_words', 35, 'ransomware', '', 'T1486',
    'The event speaks of ransomware or a ransom note.', tells('ransomware_words')],
  ['mass_encryption', 50, 'ransomware', 'work', 'T1486',
    'Many files are encrypted at once, or changed beside another sign of it.',
    any(
      atLeast(100, /files?\w*encrypted\w*|encryptedfiles\w*/), all(says('encrypted_files'), says('ransom_demand')),
      all(any(atLeast(100, RENAMED), atLeast(100, CHANGED)), any(tells('ransomware_words'), says('encrypted_files', 'ransom_demand', 'backups_destroyed'), reads(/(?:new|added|appended)(?:file)?(?:extension|suffix)\w*|extensionafter/, /\w/), isFalse('signed signaturevalid'))),
      reads(/./, /\.(?:\w{2,5})\.(?:akira|lockbit\d?|crypt\w{0,6}|locked|encrypted|ransom\w{0,4}|ryuk|conti|cl0p|clop|basta|qilin|medusa|rhysida|blackcat|phobos)\b/i))],
  ['ransom_note', 50, 'ransomware', '', 'T1486',
    'A ransom note was found, or a file whose name is typical of a ransom note.',
    any(
      tells('ransom_note'), reads(/./, /\b(?:akira|lockbit|warning|important|urgent|conti|ryuk|clop|cl0p)_?!*_?read_?me\w{0,20}\.(?:txt|html?|hta)\b/i),
      reads(/./, /(?:\b|_)(?:how|readme|read|decrypt|recover|restore|unlock|ransom)[-_ ]?(?:(?:to|me|my|your|files)[-_ ]?){0,3}(?:recover|restore|decrypt|unlock|ransom|files|pay)\w{0,20}\.(?:txt|html?|hta)\b/i))],
  ['miner', 65, 'cryptominer', '', 'T1496', 'A cryptominer was seen.',
    any(
      tells('miner'),
      reads(/(?:host|domain|dest\w*|remote\w*|connects?\w*|connections?|pool|query|cmd\w*|process)$/, /(?:^|[\s/.@-])(?:pool|xmr|mine|mining|miner)[.-][\w.-]+:\d{4,5}\b/i))],
  ['remote_control', 45, 'rat', 'finding', 'T1219 T1071',
    'A tool of remote control or its beacon was seen, or remote support runs hidden or unattended.',
    any(
      tells('rat'),
      isTrue('hidetray silentstart hidewhenidle'),
      reads(/command|cmd|args|process/, /\b(?:anydesk|rustdesk|screenconnect|ateraagent|meshagent)\b.{0,120}\s--?(?:silent|set-password|start-with-win|fullinstall|quiet)|\bssh\b.{0,80}\s-\w{0,6}R\s?\S{0,60}:\d{1,5}:\S/i),
      all(isTrue('unattended'), reads('tool product application app software process image name', /anydesk|teamviewer|screenconnect|connectwise|rustdesk|splashtop|atera|remote/i)),
      reads(/path|image|process|file|command|cmd|parent|target/, /\\(?:users\\public|programdata|appdata\\(?:roaming|local\\temp))\\[^"|]{0,60}\b(?:client32|netsupport|anydesk|rustdesk|ateraagent|meshagent|tacticalrmm|remcos)\w*\.exe/i))],
  ['program_of_windows_folder', 25, 'malware', 'work', 'T1569.002 T1036.005',
    'A service starts a program in the Windows folder, as PsExec and ransomware do.',
    programOfWindowsFolder],
  ['malware_family', 35, 'malware', 'finding', '', 'The tool names a kind of malware.',
    { only: (fact) => !isTestFile(fact), from: tells('malware_family') }],
  ['known_loader', 40, 'malware', 'finding', '',
    'The tool names a family that brings other malware with it.', tells('loader_family')],
  ['unwanted', 30, 'pup', 'unwanted', '', 'The tool calls it unwanted software.',
    tells('unwanted')],
  ['regular_calls', 15, 'rat', 'work', 'T1071', 'The program connects to a server at regular times.',
    any(
      tells('beacon'),
      atLeast(1, /^(?:everys|intervals?|interval\w*(?:s|sec|seconds|ms|minutes))$|beacon\w*(?:interval|period|s|sec|seconds|count)$|callbackinterval\w*/),
      reads('event details', /every \d+ s/i))],
  ['system_tool_fetches', 40, 'malware', 'finding', 'T1218',
    'A system tool was given a web address from which it runs code.',
    all(
      reads(/(?:process|image|program|binary|file|executable)(?:name|path)?$/, SYSTEM_TOOL),
      reads(/arg\w*|param\w*|commandline|cmdline|cmd|command$/, /\b(?:https?|ftp|file):\/\/|\\\\[\w.-]+\\/i))],
  ['encoded_shell', 20, 'malware', 'work', 'T1059.001 T1027',
    'A shell got its command encoded, which hides it from readers.',
    any(says('encoded_shell'), reads(/./, ENCODED))],
  ['download_and_run', 50, 'malware', 'work', 'T1105 T1218',
    'A system tool downloaded and ran a file.',
    any(
      says('download_and_run'),
      reads(/./, /\b(?:curl|wget)\b.{0,300}\|\s{0,9}(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+)?["'<(]{0,3}\$?\((?:curl|wget)\b/i))],
  ['fetches_script', 25, 'malware', 'work', 'T1105',
    'A command downloads a script or program, or runs one by a system tool.',
    says('fetches_script')],
  ['script_host', 10, 'malware', 'work', 'T1059', 'A script engine ran.', says('script_host')],
  ['shell_started', 45, 'malware', 'finding', 'T1059 T1505.003 T1569.002',
    'A shell was started by a program that opens or serves what strangers send, or as a service.',
    any(
      all(
        any(says('office_parent'), { only: isParent, from: reads(/./, OFFICE) }),
        any(reads(/./, ENCODED), says('encoded_shell', 'download_and_run', 'fetches_script', 'script_host'), reads('child image filename processname cmdline commandline spawned', /(?:^|[\\/" ])(?:regsvr32|rundll32|mshta|[cw]script|certutil|bitsadmin)(?:\.exe)?(?:["\s]|$)/i))),
      all(
        { only: isParent, from: reads(/./, OFFICE) },
        { only: ({ path }) => !/parent|initiatingprocess/.test(path), from: reads('child image filename processname executable cmdline commandline processcommandline newprocessname spawned', SHELL) }),
      reads(/imagepath|command|cmd|servicefile|binpath/, /\\\\127\.0\.0\.1\\\w+\$\\|%comspec%\s+\/q\s+\/c|cmd(?:\.exe)?\s+\/q\s+\/c\s.{0,200}1>\s?\\\\/i),
      all(
        { only: isParent, from: reads(/./, /\/(?:confluence|jira|tomcat\d*|weblogic|jboss|jenkins|solr)\S*\/java$|(?:^|[\\/])(?:w3wp|tomcat\d*|httpd|apache2?|nginx|php-fpm[\d.]*|php-cgi|sqlservr|umworkerprocess)(?:\.exe)?$/i) },
        reads('child cmdline commandline cmd command process processname image filename newprocessname proccmdline processcommandline name', /(?:^|[\\/" ])(?:cmd|powershell|pwsh|bash|sh|dash|whoami|net1?|python[\d.]*|perl)(?:\.exe)?(?:["\s]|$)/i)))],
  ['web_shell', 45, 'malware', 'finding', 'T1505.003',
    'A script in a folder for uploads was called with data or commands.',
    any(
      all(
        reads('p path url uri requesturi csuristem', /(?:uploads?|images?|avatars?|files|tmp|media)\/[^ ]{0,40}\.(?:aspx?|php\d?|jspx?|cfm)/i),
        any(reads('method httpmethod csmethod requestmethod m verb', /^POST$/i), reads('p path url uri', /\?\w{1,20}=/), says('web_attack', 'malware_family'))),
      reads(/./, /\.(?:aspx?|php\d?|jspx?|cfm)\?(?:c|cmd|exec|command|q)=(?:id|whoami|cat|ls|dir|uname|type|net|ipconfig)\b/i))],
  ['disguised_name', 30, 'malware', 'finding', 'T1036 T1574.002',
    'A program has the name of another, or a signed program loads an unsigned library.',
    any(
      reads(/./, /\bsigned (?:program|process|binary|executable)\b.{0,60}\bunsigned (?:dll|library|module)\b|\bunsigned (?:dll|library|module)\b.{0,60}\bsigned (?:program|process|binary|executable)\b|\bloads unsigned [\w.-]{1,60}\.dll\b/i),
      reads(PATH_KEYS, /\b(?:svch0st|svhost|scvhost|lsas|csrs|expl0rer|rundl32|winlogin)\.exe/i),
      all(reads('imageloaded', ANYBODYS), isFalse('signed'), reads('image', /\\(?:program files(?: \(x86\))?|windows)\\/i)),
      all(says('exfiltration_tool'), reads('originalname originalfilename', /\S/)))],
  ['reaches_into_program', 12, 'malware', 'work', 'T1055', 'A program of a folder where any user may write reached into another program.',
    all(reads('sourceimage sourceprocess', ANYBODYS), reads('targetimage targetprocess', /\S/))],
  ['system_tool_connects', 25, 'malware', 'work', 'T1218', 'A system tool that needs no network connected to the internet.',
    all(reads('image processname executable process name', QUIET_TOOL), reads('destinationip destip dstip ip', OUTSIDE))],
  ['page_written', 25, 'malware', 'work', 'T1505.003', 'A web server wrote a page that runs code.',
    all(reads('image processname executable', WEB_SERVER), reads('targetfilename filepath path', /\.(?:aspx?|ashx|jspx?|php\d?|cfm)$/i))],
  ['attack_tool', 25, 'account_takeover', 'scan', 'T1595', 'The client is a tool or a system for attacks.',
    reads(/useragent|workstation(?:name)?$/, /\b(?:kali|parrot|pacu|sqlmap|nikto|nmap|masscan|hydra|gobuster|feroxbuster|ffuf|wpscan|nuclei|aadinternals|roadtools|azurehound|trufflehog|cloudfox|evilginx)\b/i)],
  ['runs_where_anybody_writes', 12, 'malware', 'work', 'T1204',
    'The program runs from a folder where any user may write.',
    reads(/path|file|image|process|program|library|binary|exe|command|cmd|args|module|parent|child|target|task|dropped|written|service/,
      /\\(?:users\\public|appdata\\(?:local\\temp|roaming)|perflogs|windows\\temp|programdata(?!\\(?:microsoft|chocolatey|package cache)\\))\\|(?:^|[\s"'(,])\/(?:tmp|dev\/shm|var\/tmp)\//i)],
  ['unsigned', 12, 'malware', 'work', '', 'The program has no signature.', notSigned],
  ['bare_address', 15, 'malware', 'work', 'T1105', 'A command or script talks to a bare address.',
    reads('commandline cmd cmdline command args processargs processtree next child net script iocs',
      /https?:\/\/\d{1,3}(?:\.\d{1,3}){3}/i)],
  ['credential_dump', 55, 'malware', 'drill', 'T1003',
    'Credentials are read from memory or from the directory.',
    any(
      unless(byProtection, says('credential_dump')),
      all(
        unless(byProtection, reads('targetimage targetprocess', /(?:^|[\\/])lsass\.exe$/i)),
        reads('grantedaccess desiredaccess', /^0x[0-9a-f]{0,7}[13579bdf][0-9a-f]$/i)))],
  ['sensitive_file', 25, 'malware', 'work', 'T1552.001 T1003.008',
    'A file with passwords or keys was read.',
    unless(all({ only: ({ path }) => path === 'outputfields/proc/name', from: reads('name', /^(?:unattended-upgr|apt|apt-get|dpkg)$/) }, { only: ({ path }) => path === 'outputfields/fd/name', from: reads('name', /^\/etc\/g?shadow$/) }), says('sensitive_file'))],
  ['rights_raised', 35, 'malware', 'finding', 'T1548 T1574.006',
    'A program bypassed UAC, or a file was changed so that it gives root rights.',
    any(
      reads(/cmd|command|args|image|process|target|details|registry|event|title|alert|rule|message/, /\bms-settings\\+shell\\+open|\\+mscfile\\+shell\\+open|\b(?:fodhelper|computerdefaults|sdclt|wsreset|slui)\.exe\b|\buac bypass\b|bypass(?:es|ed)? uac\b/i),
      reads(/./, /\bchmod\s+(?:-\w+\s+)?(?:[ugoa]*\+s|[2467][0-7]{3})\s+\S*\/(?:tmp|dev\/shm|var\/tmp|home)\/|\bchmod\s+(?:u\+s|4755)\b|\/etc\/ld\.so\.preload|\bchmod"?\s+(?:a\d=)?"?(?:u\+s|[2467]\d{3})"?\s+(?:a\d=)?"?\S*\/(?:tmp|dev\/shm)\/|\buseradd\b.{0,60}-u\s?0\b|\bsuid bit set\b|>\s?\/etc\/sudoers|\bNOPASSWD:\s?ALL\b.{0,40}\/etc\/sudoers|\bLD_PRELOAD=\S*\/(?:tmp|dev\/shm)|\binsmod\s+\S*\/tmp|\b(?:pwnkit|dirtypipe|dirty pipe|dirtycow|gtfobins)\b/i))],
  ['credential_store', 35, 'malware', 'work', 'T1555', 'Stored passwords or cookies are read.',
    says('credential_store')],
  ['file_of_sign_ins_changed', 20, 'malware', 'work', 'T1098.004 T1556', 'A file that decides who may sign in was changed.',
    all(reads('path file filepath fdname targetfilename objectname', /\/pam_\w+\.so|authorized_keys|\/etc\/(?:passwd|shadow|sudoers|ld\.so\.preload|pam\.d|ssh\/sshd_config)/), any(reads('event action eventtype changetype type description', /\b(?:modified|changed|added|deleted|replaced|writ\w+|updated)\b/i)))],
  ['persistence', 15, 'malware', 'work', 'T1053 T1543', 'A program was set up to start automatically.',
    tells('persistence')],
  ['persistent_script', 30, 'malware', 'finding', 'T1053 T1543',
    'A task, service or run key starts a script, or a program from a folder where any user may write.',
    any(
      all(reads('query', /__Instance(?:Creation|Modification)Event/i), reads('destination commandlinetemplate', /\b(?:powershell|pwsh|mshta|wscript|cscript|cmd)\b/i)),
      all(reads('targetfilename', /\\Start Menu\\Programs\\Startup\\/i), reads('image', new RegExp(`${QUIET_TOOL.source}|(?:powershell|pwsh|cmd)\\.exe$|${ANYBODYS.source}`, 'i'))),
      all(
        says('persistence'),
        reads('command path binpath imagepath servicename taskname', /(?:\\users\\public|\\appdata\\|\\temp\\|\\programdata\\|^\/tmp\/|admin\$)/i)),
      all(
        reads('targetobject registrykey registrypath key regkey', /\\currentversion\\run(?:once)?\\/i),
        reads('details data value registryvalue registryvaluedata newvalue', /\\(?:users\\public|appdata\\(?:local\\temp|roaming)|temp|programdata)\\|\b(?:powershell|mshta|wscript|cscript|rundll32|regsvr32)\b/i)),
      reads(/log|message|raw$|content|command|cmd/, /(?:^|\s)(?:[\d*/,-]{1,20}\s+){5}(?:root\s+)?\/(?:tmp|var\/tmp|dev\/shm)\//),
      reads('taskcontent taskcontentnew imagepath servicefilename binpath', /%comspec%|\\(?:users\\public|appdata\\(?:local\\temp|roaming)|perflogs|windows\\temp)\\|\brundll32\b.{0,80}\\(?:programdata|users)\\|\b(?:powershell|pwsh|mshta|wscript|cscript|regsvr32|cmd(?:\.exe)?\s+\/c)\b/i))],
  ['remote_service', 25, 'malware', 'work', 'T1021 T1569.002',
    'Commands or services were started from another machine.', says('remote_service')],
  ['directory_attack', 50, 'account_takeover', 'drill', 'T1558 T1207 T1649',
    'The directory was attacked: replication, certificates, delegation or relayed logons.',
    any(
      says('directory_attack'), replicationByUser,
      reads('serviceprincipalnames serviceprincipalname', /E3514235-4B06-11D1-AB04-00C04FC2DCD2/i),
      all(reads('attributeldapdisplayname attributename', /^msDS-(?:KeyCredentialLink|AllowedToActOnBehalfOfOtherIdentity)$/i), reads('subjectusername', /^(?!(?:msol_|aad_|adsync))[^$]+$/i)),
      reads('attributes requestattributes requestedattributes', /\bSAN:\s?(?:upn|dns)=/i))],
  ['many_targets', 20, 'malware', 'scan', 'T1021',
    'One account or machine reached many machines within minutes, as a scan or a worm does.',
    any(reads('msg message', /\bscanned at least \d{2,} unique (?:hosts|ports)/i), atLeast(50, 'hostsscanned scannedhosts distinctdestinations uniquedestinations distincthosts destinationcount uniquetargets distincttargets'), all(
      any(says('remote_service'), programOfWindowsFolder),
      any(reads(TARGETS, /[a-z0-9].*,.*[a-z0-9]/i), atLeast(3, `${TARGETS} targetcount`), severalValues(TARGETS))))],
  ['defence_off', 45, 'malware', 'finding', 'T1685', 'Protection or its log was turned off.',
    any(says('defence_off'), all(reads('eventid eventcode code', /^(?:5001|5010|5012)$/), reads('provider providername sourcename', /Windows Defender$/i)))],
  ['protection_gap', 20, 'malware', 'work', 'T1685',
    'Protection stopped, or an exclusion was added.',
    any(
      says('protection_gap'),
      all(reads('param1', /defender|antivirus|antimalware|sensor|endpoint/i), reads('param2', /^stopped$/i)),
      reads('newvalue', /\\Exclusions\\(?:Paths|Processes|Extensions)\\/i))],
  ['log_cleared', 28, 'malware', 'work', 'T1685.005',
    'The log of a machine was emptied, which hides earlier actions.',
    any(
      says('log_cleared'),
      all(reads('eventid eventcode winlogeventid code', /^4719$/), reads('auditpolicychanges', /%%844[8]|%%8450|removed/i)),
      all(reads('eventid eventcode winlogeventid code', /^1102$/), reads('channel logname provider providername sourcename computer computername', /\S/)),
      all(reads('eventid eventcode winlogeventid code', /^104$/), reads('provider providername sourcename', /eventlog/i)))],
  ['vulnerable_driver', 35, 'malware', 'finding', 'T1068', 'A driver with known holes was loaded.',
    any(
      isTrue('listedvulnerable vulnerabledriver'),
      reads(/./,
        /\b(?:iqvw64e?|rtcore64|gdrv|dbutil_2_3|capcom|aswarpot|zam64|mhyprot\w*|procexp152|truesight|winring0\w*)(?:\.sys)?\b/i),
      reads('alert alertname title rule rulename event', /\bvulnerable driver\b/i))],
  ['discovery', 18, 'malware', 'work', 'T1087 T1018',
    'Commands list administrators, machines or secrets.', tells('discovery')],
  ['exfiltration_tool', 35, 'data_exfiltration', 'work', 'T1567',
    'A tool that copies data to a place outside was used.', says('exfiltration_tool')],
  ['repositories_copied', 25, 'data_exfiltration', 'work', 'T1213.003',
    'At least 50 repositories were copied.',
    all(reads('action operation event eventname', /^git\.clone$|\bgit clones?\b|\bclones? (?:of )?(?:all|many) repositories/i), atLeast(50, 'count repositories distinctrepositories repositoriesprivate clones clonecount'))],
  ['transfer_tool', 12, 'data_exfiltration', 'work', 'T1567',
    'A tool or site for file transfers was used.', says('transfer_tool')],
  ['staged_archive', 30, 'data_exfiltration', 'work', 'T1560.001',
    'Files were packed into an archive with a password, as before a theft of data.',
    any(says('staged_archive'), isTrue('archivepassword encryptedarchive'), reads(/./, /\b(?:7za?|rar|winrar)(?:\.exe)?"?\s+a\s.{0,100}-h?p\S/i))],
  ['much_sent_out', 20, 'data_exfiltration', 'work', 'T1048', 'More than 1 GB was sent out.',
    any(
      atLeast(1e9, /^origbytes$|bytes\w*(?:out|sent|upload\w*|egress|transferred|external)$|(?:out|upload|egress|sent|exfil)\w*bytes$/),
      atLeast(1000, /(?:mb|mib|megabytes)(?:out|sent|upload\w*|egress)$|(?:out|upload|egress|sent|exfil)\w*(?:mb|mib)$/),
      atLeast(1, /(?:gb|gib|gigabytes)(?:out|sent|upload\w*|egress)$|(?:out|upload|egress|sent|exfil)\w*(?:gb|gib)$/))],
  ['pod_escape', 25, 'malware', 'work', 'T1611 T1610',
    'A container runs with the rights of its node.',
    any(
      reads('privileged hostpid hostnetwork hostipc', /^true$/i),
      reads(/command|cmd|args|process/, /\bdocker\b.{0,200}(?:--privileged\b|-v\s+\/:\/)|\bnsenter\s+.{0,20}-t\s*1\b|\bchroot\s+\/(?:host|mnt)\b/i),
      reads('hostpath mountpath', /^\/(?:$|etc|root|var\/run\/docker\.sock|proc)/),
      reads(`${RULE_KEYS} type findingtype`, /\bprivileged ?container|launch privileged|host ?path mount|container ?escape/i))],
  ['shell_in_pod', 18, 'malware', 'work', 'T1609',
    'A shell or a command was started in a running container.',
    any(
      reads('subresource', /^(?:exec|attach)$/),
      reads(`${RULE_KEYS} output type findingtype`, /terminal shell in (?:a )?container|shell (?:was )?spawned in (?:a )?container|attach\/exec pod|kubernetes\/execinkubesystempod|exec into (?:a )?pod/i))],
  ['tool_in_container', 20, 'malware', 'work', 'T1105', 'A container started a network tool or installed packages, which its image does not need.',
    reads(RULE_KEYS, /^(?:Launch (?:Suspicious Network Tool|Package Management Process|Ingress Remote File Copy Tools) in Container|Netcat Remote Code Execution in Container)$/i)],
  ['tunnel', 45, 'malware', 'work', 'T1071.004', 'DNS queries carry data (DNS tunnel).',
    any(
      tells('tunnel'),
      all(
        atLeast(100, 'queriesperminute queriespermin qpm queries queries1h querycount count'),
        any(
          atLeast(40, 'avglabellength labellength'),
          reads('query queryname qname dnsquery rrname dnsquestionname queriedname', /^[a-z0-9_=-]{30,63}\.[a-z0-9-]/i))))],
  ['attack_in_request', 35, 'web_attack', 'scan', 'T1190',
    'A request carries commands for a database, a shell or a browser, or leaves its folder.',
    requestLikeAttack],
  ['web_attack_named', 25, 'web_attack', 'scan', 'T1190',
    'The tool names an attack on a web server.', webAttackNamed],
  ['request_let_through', 12, 'web_attack', 'scan', 'T1190',
    'The request with the attack was answered, or not stopped.', requestLetThrough],
]), ...circumstances([
  ['remote_support', 36, 'rat', 'finding', 'T1219',
    'A program for remote support is used, as technicians and swindlers do.',
    tells('remote_support')],
  ['leaver', 20, 'data_exfiltration', '', 'T1567',
    'Somebody who leaves the company takes data along more often than others.',
    all(
      reads(/^(?:\w*resign\w*|leaver|hr(?:flag|status)?|notice(?:given|period\w*)|employmentstatus|last(?:working)?day|contractend\w*|newemployer)$/,
        /^(?:true|yes)$|^\d{4}-|\b(?:leav\w+|resign\w*|notice|terminated|competitor)\b/i),
      reads(/^(?:\w*(?:download|upload|export|copied|usb|bytes)\w*|files|destination|attachments?|records)$/, /\S/))],
  ['not_sanctioned', 20, 'data_exfiltration', 'work', 'T1567',
    'The policy does not allow where the data goes.',
    any(
      isFalse('sanctioned issanctioned'),
      reads('policy policyresult policynote', /^(?!.*\blog[io]n\b).*\b(?:not allowed|forbidden)\b/i))],
])];
