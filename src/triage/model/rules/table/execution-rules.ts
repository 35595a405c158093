import { anyOf, atMost, reads, type Rule, says, together, told, denied, keys } from '../rule.js';

const MALWARE = { group: 'endpoint', category: 'malware' } as const;
const PATH_KEYS = keys(`
  path file image filename executable processexecutable commandline cmd cmdline command args
  process processtree target`);

const notSigned = anyOf(
  denied(/signed$|signature(?:valid|verified|trusted)$|^trusted$|codesign\w*$/),
  reads(['signer', 'signature'], /^(?:none|unsigned|invalid|revoked|expired)\b/i),
);

const SYSTEM_TOOL =
  /(?:^|[\\/])(?:mshta|regsvr32|rundll32|certutil|bitsadmin|msiexec|wmic|cscript|wscript|installutil|regasm|cmstp|hh|odbcconf|msbuild)(?:\.exe)?$/i;

export const EXECUTION_RULES: readonly Rule[] = [
  {
    ...MALWARE,
    name: 'system_tool_fetches',
    points: 40,
    explanation: 'A tool of the system was given an address on the web to run something from.',
    look: together(
      told(/(?:process|image|program|binary|file|executable)(?:name|path)?$/, SYSTEM_TOOL),
      told(
        /arg\w*|param\w*|commandline|cmdline|cmd|command$/,
        /\b(?:https?|ftp|file):\/\/|\\\\[\w.-]+\\/i,
      ),
    ),
    mitre: ['T1218'],
  },
  {
    ...MALWARE,
    name: 'office_starts_shell',
    points: 45,
    explanation: 'An office program started a shell.',
    look: together(
      says('office_parent'),
      says('encoded_shell', 'hidden_shell', 'download_and_run', 'script_host'),
    ),
    mitre: ['T1204.002', 'T1059'],
  },
  {
    ...MALWARE,
    name: 'encoded_shell',
    points: 20,
    explanation: 'A shell got its command encoded, which hides it from readers.',
    look: says('encoded_shell'),
    mitre: ['T1059.001', 'T1027'],
  },
  {
    ...MALWARE,
    name: 'hidden_shell',
    points: 15,
    explanation: 'A shell runs in a hidden window.',
    look: says('hidden_shell'),
    mitre: ['T1564.003'],
  },
  {
    ...MALWARE,
    name: 'download_and_run',
    points: 50,
    explanation: 'A tool of the system fetched something and ran it.',
    look: says('download_and_run'),
    mitre: ['T1105', 'T1218'],
  },
  {
    ...MALWARE,
    name: 'script_host',
    points: 10,
    explanation: 'A script engine took part.',
    look: says('script_host'),
    mitre: ['T1059'],
  },
  {
    ...MALWARE,
    name: 'server_starts_shell',
    points: 45,
    explanation: 'A program that serves requests of strangers started a shell.',
    look: together(
      reads(
        keys(`
          parent parentimage parentname parentprocess procpname pname parentimagefilename
          parentprocessname parentcommandline parentexecutable procparent parentcmdline ppname
          initiatingprocess`),
        /(?:^|[\\/])(?:w3wp|tomcat\d*|httpd|apache2?|nginx|php-fpm|php-cgi|sqlservr|umworkerprocess)(?:\.exe)?$/i,
      ),
      reads(
        keys(`
          child cmdline commandline cmd command process processname image filename
          newprocessname proccmdline`),
        /(?:^|[\\/" ])(?:cmd|powershell|pwsh|bash|sh|dash|whoami|net1?)(?:\.exe)?(?:["\s]|$)/i,
      ),
    ),
    mitre: ['T1505.003', 'T1190'],
  },
  {
    ...MALWARE,
    name: 'web_shell',
    points: 45,
    explanation: 'A page with code was uploaded and then called.',
    look: anyOf(
      reads(
        keys(`p path url uri`),
        /(?:upload|image|avatar|files?|tmp)[^ ]{0,40}\.(?:aspx?|php\d?|jspx?|cfm)/i,
      ),
      told(
        /./,
        /\.(?:aspx?|php\d?|jspx?|cfm)\?(?:c|cmd|exec|command|q)=(?:id|whoami|cat|ls|dir|uname|type|net|ipconfig)\b/i,
      ),
    ),
    mitre: ['T1505.003'],
  },
  {
    ...MALWARE,
    name: 'unsigned_library',
    points: 30,
    explanation: 'A signed program loads a library that nobody signed, as attackers make it do.',
    look: told(
      /./,
      /\bsigned (?:program|process|binary|executable)\b.{0,60}\bunsigned (?:dll|library|module)\b|\bunsigned (?:dll|library|module)\b.{0,60}\bsigned (?:program|process|binary|executable)\b/i,
    ),
    mitre: ['T1574.002'],
  },
  {
    ...MALWARE,
    name: 'disguised_name',
    points: 30,
    explanation: 'A program bears nearly the name of a part of the system, or not its own.',
    look: anyOf(
      reads(PATH_KEYS, /\b(?:svch0st|svhost|scvhost|lsas|csrs|expl0rer|rundl32|winlogin)\.exe/i),
      together(says('exfiltration_tool'), reads(['originalname', 'originalfilename'], /\S/)),
    ),
    mitre: ['T1036'],
  },
  {
    ...MALWARE,
    name: 'runs_where_anybody_writes',
    points: 12,
    explanation: 'It runs from a folder where anybody may write.',
    look: told(
      /path|file|image|process|program|library|binary|exe|command|cmd|args|module|parent|child|target|dropped|written|service/,
      /\\(?:users\\public|appdata\\(?:local\\temp|roaming)|perflogs|windows\\temp|programdata)\\|\/(?:tmp|dev\/shm|var\/tmp)\//i,
    ),
    mitre: ['T1204'],
  },
  {
    ...MALWARE,
    name: 'unsigned',
    points: 12,
    explanation: 'The program bears no signature.',
    look: notSigned,
  },
  {
    ...MALWARE,
    name: 'rare_program',
    points: 8,
    explanation: 'Hardly any other machine has the program, which bears no signature.',
    look: together(
      atMost(3, ...keys(`prevalence prevalenceorg orgprevalence hostswithfile`)),
      notSigned,
    ),
  },
  {
    ...MALWARE,
    name: 'bare_address',
    points: 15,
    explanation: 'A command or script talks to a bare address.',
    look: reads(
      keys(`
        commandline cmd cmdline command args processargs processtree next child net script
        iocs`),
      /https?:\/\/\d{1,3}(?:\.\d{1,3}){3}/i,
    ),
    mitre: ['T1105'],
  },
];
