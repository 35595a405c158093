import { nfkc } from '../../../platform/text.js';
import { isConsoleLink } from '../../evidence/indicators.js';
import { type Fact, type Facts, isOfTools } from './facts.js';

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
/** Keys under which tools name the genuine party that a sender imitates. */
const KNOWN_KEYS =
  /^(?:known|real|genuine|legitimate|usual|official|expected)\w*(?:domain|supplier|vendor|sender|contact|address|host)\w*$|^(?:domain|sender)known$/;

const MAIL_DOMAIN = /@([\p{L}\p{N}][\p{L}\p{N}.-]{0,252})/gu;
const URL_HOST = /\bh(?:tt|xx)ps?:\/\/(?:[^\s/?#@"'<>]{0,256}@)?([^\s/?#:"'<>\\)\]]{1,253})/gi;
const BARE_HOST = /^(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}$/u;
const SHARED_SECOND = new Set(['co', 'com', 'org', 'net', 'ac', 'gov', 'edu']);

export interface Host {
  readonly name: string;
  readonly fact: Fact;
}

/** Caches the result for each event, because several rules search for the same hosts. */
export function onceForEach<T>(find: (facts: Facts) => T): (facts: Facts) => T {
  const found = new WeakMap<Facts, T>();
  return (facts) => {
    if (!found.has(facts)) found.set(facts, find(facts));
    return found.get(facts)!;
  };
}

/** Maximum hosts from one text and from one event. People write fewer. A sender of more hosts may hide a host. */
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

/** Hosts of URLs, except URLs of the tool's own console. */
export const linkedHosts = onceForEach((facts): readonly Host[] => {
  const texts = facts.all.filter(
    ({ key, value }) => typeof value === 'string' && value.includes('://') && !isConsoleLink(key),
  );
  return hostsBy(URL_HOST, texts);
});

export const senderDomains = onceForEach((facts): readonly Host[] =>
  hostsBy(MAIL_DOMAIN, facts.named(...SENDER_KEYS)),
);

const REPLY_KEY = /^(?:header|mail)?reply(?:to)?(?:address|header)?$/;
export const replyDomains = onceForEach((facts): readonly Host[] =>
  hostsBy(
    MAIL_DOMAIN,
    facts.all.filter(({ key }) => REPLY_KEY.test(key)),
  ),
);

/** Returns the texts with too many hosts. If the event has too many hosts, also returns the last text that was read. */
export function flooded(facts: Facts): readonly Fact[] {
  const found = [linkedHosts(facts), senderDomains(facts)];
  const byFact = Map.groupBy(found.flat(), ({ fact }) => fact);
  const last = found.filter(({ length }) => length >= MOST_IN_AN_EVENT);
  return [
    ...[...byFact].filter(([, { length }]) => length >= MOST_IN_A_TEXT).map(([fact]) => fact),
    ...last.map((hosts) => hosts.at(-1)!.fact),
  ];
}

/** Returns the domain that the owner of a host has registered. Knows only common public suffixes. */
export function registered(host: string): string {
  const labels = host.split('.');
  const two = labels.at(-1)?.length === 2 && SHARED_SECOND.has(labels.at(-2) ?? '');
  return labels.slice(two ? -3 : -2).join('.');
}

function knownDomainsOf(facts: readonly Fact[]): ReadonlySet<string> {
  const known = facts.filter(({ key }) => KNOWN_KEYS.test(key));
  const plain = known.map(({ value }) => String(value).toLowerCase().trim());
  const ofMail = hostsBy(MAIL_DOMAIN, known).map(({ name }) => name);
  return new Set([...plain.filter((text) => BARE_HOST.test(text)), ...ofMail].map(registered));
}

export function domainsOf(facts: readonly Fact[]): ReadonlySet<string> {
  return new Set(hostsBy(MAIL_DOMAIN, facts).map(({ name }) => registered(name)));
}

export function outside(facts: Facts, addresses: readonly Fact[]): readonly Fact[] {
  const own = domainsOf(facts.ofTools(...OWN_KEYS));
  return hostsBy(MAIL_DOMAIN, addresses).flatMap(({ name, fact }) =>
    own.has(registered(name)) ? [] : [fact],
  );
}

const LEAST_LETTERS = 5;
const MOST_NAMES = 10;
const LONGEST_ADDITION = 12;
const LONGEST_NAME = 40;

/** Returns hosts that imitate our domains, known domains or well-known brands: `login-acme.test` for `acme.example`. */
export const borrowedNames = onceForEach((facts): readonly Host[] => {
  // Domains that a stranger may have written are compared last. They never exempt a host.
  const toolsKnown = knownDomainsOf(facts.all.filter(isOfTools));
  const toolsOwn = domainsOf(facts.ofTools(...OWN_KEYS));
  const known = knownDomainsOf(facts.all);
  const own = domainsOf(facts.named(...OWN_KEYS));
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
    const owned = nameOf(domain);
    const labels = name.split('.').filter(({ length }) => length >= LEAST_LETTERS);
    const looks = new Map([owned, ...labels].map((label) => [label, seen(label)]));
    return names.some(
      (real) =>
        resembles(owned, looks.get(owned)!, real) ||
        labels.some((label) => borrows(label, looks.get(label)!, real)),
    );
  });
});

/** Maximum compared hosts: the time grows with the length of both names, and a mail may name thousands of hosts. */
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

const bareHosts = (facts: Facts): readonly Host[] =>
  facts.all
    .filter(({ value }) => typeof value === 'string' && value.length < 254 && BARE_HOST.test(value))
    .map((fact) => ({ name: String(fact.value).toLowerCase(), fact }));

/** True if the label adds letters to the genuine name. Honest services use the exact name in customer subdomains. */
function borrows(label: string, looks: string, real: string): boolean {
  return label !== real && looks.length <= real.length + LONGEST_ADDITION && looks.includes(real);
}

function resembles(label: string, looks: string, real: string): boolean {
  const most = real.length < 7 ? 1 : 2;
  if (label === real || label[0] !== real[0] || real.length > LONGEST_NAME) return false;
  return Math.abs(looks.length - real.length) <= most && isWithin(most, looks, real);
}

/** True if at most `most` letters are added, removed or changed (Levenshtein distance). */
function isWithin(most: number, one: string, other: string): boolean {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let at = 1; at < row.length; at += 1) {
      const change = row[at - 1]! + (one[i - 1] === other[at - 1] ? 0 : 1);
      next.push(Math.min(change, row[at]! + 1, next[at - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]! <= most;
}

/** Brands that phishing imitates most, for events that do not name the genuine party. Excludes everyday words. */
const BRANDS = new Set(
  (
    'adobe dhl fedex usps okta hsbc barclays santander wellsfargo bankofamerica citibank sparkasse commerzbank ' +
    'intuit quickbooks hubspot zendesk salesforce mailchimp binance metamask revolut klarna ' +
    'microsoft office365 sharepoint onedrive docusign dropbox paypal google amazon ' +
    'icloud netflix linkedin facebook instagram whatsapp coinbase'
  ).split(' '),
);
const DOMAIN_ENDS = ['com', 'net', 'org'];
/** Words that only phishing adds to a brand with a hyphen. */
const BAIT = new Set(
  (
    'login logon signin sign secure security verify verification account accounts billing password reset support ' +
    'unlock auth sso mfa device check id portal help service center centre notice alert update recover online my'
  ).split(' '),
);

/** Networks and gateways whose own domain follows the name of an honest host: `www.amazon.com.edgekey.net`. */
const CARRIERS = new Set(
  'akadns.net akamaiedge.net akamaized.net edgekey.net edgesuite.net trafficmanager.net cloudfront.net mcas.ms'.split(
    ' ',
  ),
);

/** Converts a label to the letters that a person reads, such as one to l, zero to o, two v to w. */
const seen = (label: string): string => label.replace(/[103]|vv|rn/g, (shape) => LOOKS[shape]!);
const LOOKS: Readonly<Record<string, string>> = { 1: 'l', 0: 'o', 3: 'e', vv: 'w', rn: 'm' };

/** True if the host imitates a brand: `micros0ft-login.test`, `microsoft-login.test`, `docusign.com.one.test`. */
function imitatesBrand(host: string, registered: string): boolean {
  if (CARRIERS.has(registered)) return false;
  const below = host.slice(0, Math.max(0, host.length - registered.length)).split('.');
  const isBrandSite = (label: string, at: number) =>
    BRANDS.has(label) && DOMAIN_ENDS.includes(below[at + 1] ?? '');
  if (below.some(isBrandSite)) return true;
  const parts = nameOf(registered).split('-');
  const isBaited = parts.some((part) => BAIT.has(part));
  return parts.some((part) => (BRANDS.has(part) ? isBaited : BRANDS.has(seen(part))));
}
