import { nfkc } from '../../../platform/text.js';
import { isConsoleLink } from '../../evidence/tool-plumbing.js';
import { imitatesBrand, seen } from './brands.js';
import type { Facts } from './facts.js';
import type { Fact } from './fact.js';

const SENDER_KEYS = [
  'sender',
  'from',
  'fromaddress',
  'mailfrom',
  'address',
  'p2sender',
  'fromdisplay',
  'emailfromaddress',
  'organizer',
  'expediteur',
  'upn',
  'fromtenant',
  'email',
];
const OWN_KEYS = [
  'recipient',
  'recipients',
  'to',
  'rcpt',
  'torecipients',
  'touser',
  'destinataires',
  'user',
  'username',
  'userprincipalname',
  'upn',
  'userid',
  'owner',
  'reportedby',
  'reporter',
  'submittedby',
  'actor',
  'account',
  'alternateid',
  'calendarowner',
  'target',
  'who',
  'initiatedby',
  'targetusername',
];
/** Where a tool puts the name that somebody imitates. */
const KNOWN_KEYS =
  /^(?:known|real|genuine|legitimate|usual|official|expected)\w*(?:domain|supplier|vendor|sender|address|host)\w*$|^(?:domain|sender)known$/;

const MAIL_DOMAIN = /@([\p{L}\p{N}][\p{L}\p{N}.-]{0,252})/gu;
const URL_HOST = /\bh(?:tt|xx)ps?:\/\/(?:[^\s/?#@"'<>]{0,256}@)?([^\s/?#:"'<>\\)\]]{1,253})/gi;
const BARE_HOST = /^(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}$/u;
const SHARED_SECOND = new Set(['co', 'com', 'org', 'net', 'ac', 'gov', 'edu']);

export interface Host {
  readonly name: string;
  readonly fact: Fact;
}

/** Several rules look at the same hosts: they are searched for once in each event. */
function onceForEach<T>(find: (facts: Facts) => T): (facts: Facts) => T {
  const found = new WeakMap<Facts, T>();
  return (facts) => {
    if (!found.has(facts)) found.set(facts, find(facts));
    return found.get(facts)!;
  };
}

/** More in one text than anybody writes; who does write so many hides one among them. */
const MOST_IN_A_TEXT = 2_000;

function hostsBy(pattern: RegExp, fact: Fact): Host[] {
  const hosts: Host[] = [];
  for (const [, name] of String(fact.value).matchAll(pattern)) {
    if (hosts.length >= MOST_IN_A_TEXT) break;
    hosts.push({ name: nfkc(name!).toLowerCase().replace(/\.+$/, ''), fact });
  }
  return hosts;
}

/** Hosts of addresses on the web, but for those of the tool's own console. */
export const linkedHosts = onceForEach((facts): readonly Host[] =>
  facts.all
    .filter(({ value }) => typeof value === 'string' && value.includes('://'))
    .filter(({ key }) => !isConsoleLink(key))
    .flatMap((fact) => hostsBy(URL_HOST, fact)),
);

export const senderDomains = onceForEach((facts): readonly Host[] =>
  facts.named(...SENDER_KEYS).flatMap((fact) => hostsBy(MAIL_DOMAIN, fact)),
);

/** Under these names tools put whose mailbox it is. `to` is not among them: the sender of a mail writes there what he likes. */
const MAILBOX_KEYS = [
  'recipient',
  'recipients',
  'rcpt',
  'mailbox',
  'reporter',
  'reportedby',
  'submittedby',
  'emailrecipient',
];

/** Whether the tool names only mailboxes of the domain that the mail says to come from. */
export function isFromInside(facts: Facts): boolean {
  const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const mailboxes = facts
    .ofTools(...MAILBOX_KEYS)
    .map(({ value }) => String(value))
    .filter((value) => value.includes('@'));
  const { from } = facts.authentication;
  return (
    from !== undefined &&
    mailboxes.length > 0 &&
    mailboxes.every((mailbox) => domainOf(mailbox) === domainOf(from))
  );
}

export const replyDomains = onceForEach((facts): readonly Host[] =>
  facts.named('replyto', 'headerreplyto').flatMap((fact) => hostsBy(MAIL_DOMAIN, fact)),
);

/** Texts with so many hosts that not all of them were looked at. */
export function flooded(facts: Facts): readonly Fact[] {
  const counts = new Map<Fact, number>();
  for (const { fact } of [...linkedHosts(facts), ...senderDomains(facts)]) {
    counts.set(fact, (counts.get(fact) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count >= MOST_IN_A_TEXT).map(([fact]) => fact);
}

/** The registered part of a host: what its owner paid for. Without a list of public suffixes, the common ones suffice. */
export function registered(host: string): string {
  const labels = host.split('.');
  const two = labels.at(-1)?.length === 2 && SHARED_SECOND.has(labels.at(-2) ?? '');
  return labels.slice(two ? -3 : -2).join('.');
}

/** The domains that are called the real ones. */
function knownDomains(facts: readonly Fact[]): ReadonlySet<string> {
  const domains = facts
    .filter(({ key }) => KNOWN_KEYS.test(key))
    .flatMap((fact) => {
      const text = String(fact.value).toLowerCase().trim();
      const ofMail = hostsBy(MAIL_DOMAIN, fact).map(({ name }) => name);
      return BARE_HOST.test(text) ? [text, ...ofMail] : ofMail;
    });
  return new Set(domains.map(registered));
}

/** The domains of the people that the event happened to. */
function ownDomains(facts: readonly Fact[]): ReadonlySet<string> {
  const people = facts.flatMap((fact) => hostsBy(MAIL_DOMAIN, fact));
  return new Set(people.map(({ name }) => registered(name)));
}

const LEAST_LETTERS = 5;
const MOST_NAMES = 10;
const LONGEST_ADDITION = 12;
/** Nobody tells longer names apart by a letter. */
const LONGEST_NAME = 40;

/** Hosts that borrow the name of one of our own domains, of a known one, or of a brand that all know: `login-acme.test` for `acme.example`. */
export function borrowedNames(facts: Facts): readonly Host[] {
  // What a stranger may have written is compared with, too, but spares no host and comes last.
  const toolsKnown = knownDomains(facts.allOfTools);
  const toolsOwn = ownDomains(facts.ofTools(...OWN_KEYS));
  const known = knownDomains(facts.all);
  const own = ownDomains(facts.named(...OWN_KEYS));
  const namesOf = (domains: ReadonlySet<string>) => new Set([...domains].map(nameOf));
  const [toolsKnownNames, knownNames] = [namesOf(toolsKnown), namesOf(known)];
  const names = [...namesOf(new Set([...toolsKnown, ...toolsOwn, ...known, ...own]))]
    .filter(({ length }) => length >= LEAST_LETTERS)
    .slice(0, MOST_NAMES);
  const hosts = [...senderDomains(facts), ...linkedHosts(facts), ...bareHosts(facts)];
  return firstOfEach(hosts).filter(({ name }) => {
    const domain = registered(name);
    if (toolsKnown.has(domain)) return false;
    if (toolsKnownNames.has(nameOf(domain))) return true;
    if (!known.has(domain) && knownNames.has(nameOf(domain))) return true;
    if (toolsOwn.has(domain)) return false;
    if (imitatesBrand(name, domain)) return true;
    const labels = name.split('.').map((label) => ({ label, looks: seen(label) }));
    const owned = { label: nameOf(domain), looks: seen(nameOf(domain)) };
    return names.some((real) => resembles(owned, real) || labels.some((one) => borrows(one, real)));
  });
}

/** Each comparison takes time by the length of both, and a mail may name hosts by the thousand. */
const MOST_HOSTS = 500;

function firstOfEach(hosts: readonly Host[]): Host[] {
  const byName = new Map<string, Host>();
  for (const host of hosts) {
    if (byName.size === MOST_HOSTS) break;
    if (!byName.has(host.name)) byName.set(host.name, host);
  }
  return [...byName.values()];
}

const nameOf = (domain: string): string => domain.split('.', 1)[0]!;

interface Label {
  readonly label: string;
  /** As the eye reads it. */
  readonly looks: string;
}

const bareHosts = (facts: Facts): readonly Host[] =>
  facts.all
    .filter(({ value }) => typeof value === 'string' && value.length < 254 && BARE_HOST.test(value))
    .map((fact) => ({ name: String(fact.value).toLowerCase(), fact }));

/** The very name itself is left out: it is also what honest services call the part that they give to a customer. */
function borrows({ label, looks }: Label, real: string): boolean {
  return label !== real && looks.length <= real.length + LONGEST_ADDITION && looks.includes(real);
}

function resembles({ label, looks }: Label, real: string): boolean {
  if (label === real || label[0] !== real[0] || real.length > LONGEST_NAME) return false;
  if (Math.abs(looks.length - real.length) > 2) return false;
  return distance(looks, real) <= (real.length < 7 ? 1 : 2);
}

/** How many letters have to be changed: rows of the usual table, for two short labels. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}
