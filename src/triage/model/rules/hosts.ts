import { nfkc } from '../../../platform/text.js';
import { isConsoleLink } from '../../evidence/indicators.js';
import type { Fact, Facts } from './facts.js';

const SENDER_KEYS = (
  'sender from fromaddress mailfrom address p2sender fromdisplay emailfromaddress organizer ' +
  'expediteur upn fromtenant email fromaddr fromemail senderemail senderaddress ' +
  'senderemailaddress headerfrom'
).split(' ');
const OWN_KEYS = (
  'recipient recipients to rcpt torecipients touser destinataires user username ' +
  'userprincipalname upn userid owner reportedby reporter submittedby actor account alternateid ' +
  'calendarowner target who initiatedby targetusername recipientaddress recipientemail ' +
  'toaddress toaddresses'
).split(' ');
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

/** More than anybody writes in one text, or in one event; who does write so many hides one among them. */
const MOST_IN_A_TEXT = 2_000;
const MOST_IN_AN_EVENT = 4_000;

function hostsBy(pattern: RegExp, facts: readonly Fact[]): Host[] {
  const hosts: Host[] = [];
  for (const fact of facts) {
    const most = Math.min(MOST_IN_AN_EVENT, hosts.length + MOST_IN_A_TEXT);
    for (const [, name] of String(fact.value).matchAll(pattern)) {
      if (hosts.length >= most) break;
      hosts.push({ name: nfkc(name!).toLowerCase().replace(/\.+$/, ''), fact });
    }
    if (hosts.length >= MOST_IN_AN_EVENT) break;
  }
  return hosts;
}

/** Hosts of addresses on the web, but for those of the tool's own console. */
export const linkedHosts = onceForEach((facts): readonly Host[] => {
  const texts = facts.all.filter(
    ({ key, value }) => typeof value === 'string' && value.includes('://') && !isConsoleLink(key),
  );
  return hostsBy(URL_HOST, texts);
});

export const senderDomains = onceForEach((facts): readonly Host[] =>
  hostsBy(MAIL_DOMAIN, facts.named(...SENDER_KEYS)),
);

/** Under these names tools put whose mailbox it is. `to` is not among them: the sender of a mail writes there what he likes. */
const MAILBOX_KEYS =
  'recipient recipients rcpt mailbox reporter reportedby submittedby emailrecipient'.split(' ');

/** Whether the tool names only mailboxes of the domain that the mail says to come from. */
export function isFromInside(facts: Facts): boolean {
  const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const mailboxes = facts
    .ofTools(...MAILBOX_KEYS)
    .map(({ value }) => String(value))
    .filter((value) => value.includes('@'));
  const { sender } = facts.fields;
  return (
    sender !== undefined &&
    mailboxes.length > 0 &&
    mailboxes.every((mailbox) => domainOf(mailbox) === domainOf(sender))
  );
}

const REPLY_KEY = /^(?:header|mail)?reply(?:to)?(?:address|header)?$/;
export const replyDomains = onceForEach((facts): readonly Host[] =>
  hostsBy(
    MAIL_DOMAIN,
    facts.all.filter(({ key }) => REPLY_KEY.test(key)),
  ),
);

/** Texts with so many hosts that not all of them were looked at, or whose hosts were the last that were looked at. */
export function flooded(facts: Facts): readonly Fact[] {
  const counts = new Map<Fact, number>();
  const found = [linkedHosts(facts), senderDomains(facts)];
  for (const { fact } of found.flat()) counts.set(fact, (counts.get(fact) ?? 0) + 1);
  const last = found.filter(({ length }) => length >= MOST_IN_AN_EVENT);
  return [
    ...[...counts].filter(([, count]) => count >= MOST_IN_A_TEXT).map(([fact]) => fact),
    ...last.map((hosts) => hosts.at(-1)!.fact),
  ];
}

/** The registered part of a host: what its owner paid for. Without a list of public suffixes, the common ones suffice. */
export function registered(host: string): string {
  const labels = host.split('.');
  const two = labels.at(-1)?.length === 2 && SHARED_SECOND.has(labels.at(-2) ?? '');
  return labels.slice(two ? -3 : -2).join('.');
}

/** The domains that are called the real ones. */
function knownDomains(facts: readonly Fact[]): ReadonlySet<string> {
  const known = facts.filter(({ key }) => KNOWN_KEYS.test(key));
  const plain = known.map(({ value }) => String(value).toLowerCase().trim());
  const ofMail = hostsBy(MAIL_DOMAIN, known).map(({ name }) => name);
  return new Set([...plain.filter((text) => BARE_HOST.test(text)), ...ofMail].map(registered));
}

/** The domains of the people that the event happened to. */
function ownDomains(facts: readonly Fact[]): ReadonlySet<string> {
  return new Set(hostsBy(MAIL_DOMAIN, facts).map(({ name }) => registered(name)));
}

const LEAST_LETTERS = 5;
const MOST_NAMES = 10;
const LONGEST_ADDITION = 12;
/** Nobody tells longer names apart by a letter. */
const LONGEST_NAME = 40;

/** Hosts that borrow the name of one of our own domains, of a known one, or of a brand that all know: `login-acme.test` for `acme.example`. */
export const borrowedNames = onceForEach((facts): readonly Host[] => {
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
    const labels = name
      .split('.')
      .filter(({ length }) => length >= LEAST_LETTERS)
      .map((label) => ({ label, looks: seen(label) }));
    const owned = { label: nameOf(domain), looks: seen(nameOf(domain)) };
    return names.some((real) => resembles(owned, real) || labels.some((one) => borrows(one, real)));
  });
});

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
  return isWithin(real.length < 7 ? 1 : 2, looks, real);
}

/** Whether so few letters have to be changed: the usual table, of which only the cells near its diagonal can be so low. */
function isWithin(most: number, one: string, other: string): boolean {
  const longer = other.length - one.length;
  if (Math.abs(longer) > most) return false;
  // The cell `at` of the row `i` is about the first `i` letters of the one and the first `i + at - most` of the other.
  let row = Array.from({ length: 2 * most + 1 }, (_, at) => (at < most ? LONGEST_NAME : at - most));
  for (let i = 1; i <= one.length; i += 1) {
    const next: number[] = [];
    for (let at = 0; at < row.length; at += 1) {
      const change = row[at]! + (one[i - 1] === other[i + at - most - 1] ? 0 : 1);
      const added = at + 1 < row.length ? row[at + 1]! + 1 : LONGEST_NAME;
      next.push(Math.min(change, added, at > 0 ? next[at - 1]! + 1 : LONGEST_NAME));
    }
    row = next;
  }
  return row[longer + most]! <= most;
}

/** Names that phishing borrows most, for events in which nobody of these names takes part. Only names that are no everyday words. */
const BRANDS = new Set(
  (
    'adobe dhl fedex usps okta hsbc barclays santander wellsfargo bankofamerica citibank sparkasse commerzbank ' +
    'intuit quickbooks hubspot zendesk salesforce mailchimp binance metamask revolut klarna ' +
    'microsoft office365 sharepoint onedrive docusign dropbox paypal google amazon ' +
    'icloud netflix linkedin facebook instagram whatsapp coinbase'
  ).split(' '),
);
const DOMAIN_ENDS = ['com', 'net', 'org'];
/** What only a trap adds to a name with a hyphen. */
const BAIT = new Set(
  (
    'login logon signin sign secure security verify verification account accounts billing password reset support ' +
    'unlock auth sso mfa device check id portal help service center centre notice alert update recover online my'
  ).split(' '),
);

/** Networks and gateways that carry honest hosts below a name of their own: `www.amazon.com.edgekey.net`. */
const CARRIERS = new Set(
  'akadns.net akamaiedge.net akamaized.net edgekey.net edgesuite.net trafficmanager.net cloudfront.net mcas.ms'.split(
    ' ',
  ),
);

/** As the eye reads it: one for l, zero for o, two v for w. */
const seen = (label: string): string =>
  label
    .replaceAll('1', 'l')
    .replaceAll('0', 'o')
    .replaceAll('3', 'e')
    .replaceAll('vv', 'w')
    .replaceAll('rn', 'm');

/** `micros0ft-login.test`, `microsoft-login.test` and `docusign.com.one.test`. */
function imitatesBrand(host: string, registered: string): boolean {
  if (CARRIERS.has(registered)) return false;
  const below = host.slice(0, Math.max(0, host.length - registered.length)).split('.');
  if (below.some((label, at) => isBrand(label) && DOMAIN_ENDS.includes(below[at + 1] ?? ''))) {
    return true;
  }
  const parts = registered.split('.', 1)[0]!.split('-');
  const baited = parts.some((part) => BAIT.has(part));
  return parts.some((part) => (isBrand(part) ? baited : isBrand(seen(part))));
}

const isBrand = (label: string): boolean => BRANDS.has(label);
