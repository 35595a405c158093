import type { RawText } from './raw-values.js';

/*
 * What a tool writes about itself and not about the event: its console, its ids, names of its kinds of events. All names of keys
 * are as plainName writes them.
 */

/** Keys whose link opens the tool's own console. */
const CONSOLE_LINK =
  /^(?:threaturl|falconhostlink|(?:alert|incident|case|event|finding|detection)(?:web)?(?:url|link)|(?:results|dashboard|console|portal|details?|alertdetails|runbook|silence|generator|panel|external|perma|html|deep|self|abxportal|xdr|help|docs?|documentation|remediation|recommendation|advisory|learnmore|support)(?:url|uri|link)|linkto\w+(?:ui|api)|dashboard|console|permalink|self)$/;

/** Whether the link under this key opens the tool's console: it is no link of the mail or of the event. */
export const isConsoleLink = (name: string): boolean => CONSOLE_LINK.test(name);

const ID =
  /(?:id|ids|idstring|guid|uuid|arn|etag|fingerprint|dthash|accounttag|cursor|nonce|(?:incident|alert|event|dedup|deduplication|aggregation|group|routing|integration|correlation|partition)key)$/;
/** Some tools call an address an id. */
const PERSON_ID = /(?:user|mail|login|sender|recipient|principal|account|alternate)id$/;

/** `lap-7:0123456789abcdef0123456789abcdef`, as sensors list machines. */
const HOST_WITH_ID = /^[\w.-]{1,64}:[0-9a-f]{32}$/;

/** Whether a text is an id of the tool. The id of a mail has the form of an address and is none. */
export function isId({ name, value }: RawText): boolean {
  if (name === 'hosts' && HOST_WITH_ID.test(value)) return true;
  if (!ID.test(name)) return false;
  return !PERSON_ID.test(name) || !/^[^\s@<]+@[^\s@]+$/.test(value);
}

const KIND =
  /(?:type|kind|action|operation|activity|category|schema|api|rule|rulename|module|policy|servicename|threatnames?|malwarefamily|virusname|^event|^eventname)$/;
const ONE_NAME = /^#?[\w-]+(?:\.[\w-]+)+$/;
/** `aws.guardduty` and `com.example.hook`, as clouds and buses name what sends an event. */
const SENDING = /^(?:aws|azure|gcp|com|org)\./;

/** Where vendors explain a finding of theirs: https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-findings-format.html */
const EXPLAINING = /^(?:remediation|recommendation|documentation|help)$/;

/** Whether a text is the vendor's own page on a kind of finding. */
export const isDocumentation = ({ name, owner }: RawText): boolean =>
  EXPLAINING.test(owner) && /^(?:url|uri|link|href)$/.test(name);

/** `Microsoft.SecurityInsights/incidents`, and the paths of resources that hold such names: no domain ends so. */
const RESOURCE =
  /^(?:\/subscriptions\/\S+|Microsoft\.[A-Z]\w+(?:\/[\w.-]+)*|microsoft\.[a-z]{6,40}(?:\/[\w.-]+)*)$/;
/** What is done with one, under any name: `Microsoft.KeyVault/vaults/accessPolicies/write`. */
const OPERATION = /^Microsoft\.[A-Z]\w+(?:\/[\w.-]+)+$/;
const RESOURCE_KEY =
  /(?:types?|provider|providername|namespace|resource|resourceid|product|productname|^id)$/;

/** Whether a text names a kind of event, object or malware, such as `user.session.start`, and no domain. */
export function isKind({ name, owner, value }: RawText): boolean {
  const text = value.trim();
  if (OPERATION.test(text) || (RESOURCE_KEY.test(name) && RESOURCE.test(text))) return true;
  if (!ONE_NAME.test(text)) return false;
  return KIND.test(name === 'name' ? owner : name) || (name === 'source' && SENDING.test(text));
}

/** Parts of a mail that are its own text. Gateways list them beside attachments and give them these names. */
const BODY_PART =
  /^(?:text|body|part|message|unnamed|untitled|mime)[-_. ]?\d{0,3}\.(?:html?|txt|plain)$/i;

/** Whether a file is the text of the mail itself, by the name that gateways give to it. */
export const isBodyPart = (name: string): boolean => BODY_PART.test(name.trim());

/** What tools write where they know no name of a machine. */
const NO_HOST = new Set(
  (
    'computer desktop laptop mobile tablet phone server workstation device machine host instance unknown other none ' +
    'windows linux macos android ios localhost'
  ).split(' '),
);
const NUMBERED = /^(?:[0-9a-f]{16,}|\d{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

export const isHostName = (value: string): boolean =>
  !NO_HOST.has(value.toLowerCase()) && !NUMBERED.test(value);

/** Accounts and tenants have numbers and links. People have names. */
export const isUserName = (value: string): boolean =>
  !value.includes('://') && !NUMBERED.test(value);

const SYSTEM_PROGRAMS = new Set(
  (
    'system idle explorer svchost services lsass csrss smss wininit winlogon taskhostw dllhost conhost rundll32 regsvr32 ' +
    'cmd powershell pwsh wscript cscript mshta msiexec wmiprvse spoolsv werfault userinit runtimebroker sihost ctfmon ' +
    'winword excel powerpnt outlook onenote chrome msedge firefox ' +
    'bash sh dash zsh ash busybox sudo su systemd init sshd cron runc containerd containerd-shim kubelet java python python3 perl node'
  ).split(' '),
);
const SYSTEM_FOLDER =
  /^(?:(?:[a-z]:|\\device\\harddiskvolume\d+)\\windows\\(?:(?:system32|syswow64)\\(?:[\w.]+\\){0,3})?|\/(?:usr\/)?s?bin\/)?$/i;

/** Whether a file is a program of the system at the place where it belongs, or named without one: it is on every machine. */
export function isSystemProgram(path: string): boolean {
  const from = Math.max(path.lastIndexOf('\\'), path.lastIndexOf('/')) + 1;
  const name = path
    .slice(from)
    .toLowerCase()
    .replace(/\.exe$/, '');
  return SYSTEM_PROGRAMS.has(name) && SYSTEM_FOLDER.test(path.slice(0, from));
}
