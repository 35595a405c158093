import { domainToASCII } from 'node:url';
import { hasFormat } from '../../action-catalogue/parameters.js';
import { readIpAddress } from '../../platform/addresses/ip-address.js';
import { looksLikeDomain, refang } from '../../incidents/defang.js';
import { withoutHidden } from './visible-text.js';

interface Spotted {
  readonly type: 'url' | 'domain' | 'ip' | 'email' | 'hash';
  readonly value: string;
}

/** Remaining effort for all texts of an incident together. Limited, because strangers choose the texts. */
export interface Effort {
  /** Number of words that may still be read (about 1 µs per word). A host in another script counts as many words. */
  words: number;
}

const LONGEST_WORD = 2_100;
const LONGEST_URL = 2_048;
const MOST_NESTED = 8;
const WORDS_OF_A_URL = 5;
const WORDS_OF_A_PIECE = 200;

/** Yields addresses and hashes in the normal form of URLs, which lookups accept; undefined where a caller may pause. */
export function* addressesIn(text: string, effort: Effort): Generator<Spotted | undefined> {
  const seen = new Set<string>();
  let count = 0;
  for (const [found] of refang(withoutHidden(text)).matchAll(WORD)) {
    if (count % WORDS_OF_A_PIECE === 0) yield undefined;
    count += 1;
    const word = found.slice(0, LONGEST_WORD);
    const isTelling = word.length >= SHORTEST_HASH || /[.:@]/.test(word);
    if (!isTelling || seen.has(word)) continue;
    if (effort.words <= 0) return;
    effort.words -= 1;
    seen.add(word);
    yield* inWord(word, effort);
  }
}

const WORD = /[^\t\n\r "'<>`|\\^{}\u00a0\u3000]{4,}/g;
const SHORTEST_HASH = 32;

const SCHEME = /(?:https?|ftp):\/\//i;

function* inWord(word: string, effort: Effort): Generator<Spotted> {
  const scheme = word.search(SCHEME);
  const before = scheme < 0 ? word : word.slice(0, scheme);
  for (const part of before.split(/[,;'()[\]=&?#*!]/)) {
    if (effort.words <= 0) return;
    if (part !== '') yield* inPart(withoutEnd(part, '.,:!?-~_'), effort);
  }
  if (scheme < 0) return;
  yield* inUrl(withoutEnd(word.slice(scheme), '.,;:!?)\'"]*'), MOST_NESTED, effort);
}

/** Matches the host as it is written, before its conversion. Programs ignore slashes before the host. */
const WRITTEN_HOST = /^[a-z]+:[/\\]*(?:[^/?#\\]*@)?([^/?#\\]*)/i;
const LONGEST_PORT = ':65535'.length;

function* inUrl(text: string, nested: number, effort: Effort): Generator<Spotted> {
  const written = WRITTEN_HOST.exec(text)?.[1] ?? '';
  if (!isWorthReading(written, LONGEST_DOMAIN + LONGEST_PORT, effort) || !URL.canParse(text))
    return;
  effort.words -= WORDS_OF_A_URL;
  const url = new URL(text);
  if (url.href.length <= LONGEST_URL) yield { type: 'url', value: url.href };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const spotted = ipIn(host) ?? domainOf(host, effort);
  if (spotted) yield spotted;
  // Services that rewrite links keep the original URL in a parameter.
  for (const value of [...url.searchParams.values()].slice(0, nested)) {
    if (value.search(SCHEME) === 0) yield* inUrl(value, 0, effort);
  }
}

const HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;

function* inPart(part: string, effort: Effort): Generator<Spotted> {
  effort.words -= 1;
  const address = ipIn(part);
  if (address) yield address;
  // Splits `mailto:bob@example.com`, `sha256:...` and `example.com:8080`. Removes the path, which begins with a slash.
  const pieces = address ? [] : part.split('/', 1)[0]!.split(':');
  for (const piece of pieces) {
    if (effort.words <= 0) return;
    effort.words -= 1;
    if (HASH.test(piece)) yield { type: 'hash', value: piece.toLowerCase() };
    const at = piece.lastIndexOf('@');
    const domain = ipIn(piece) ?? domainOf(piece.slice(at + 1), effort);
    const email = domain && at > 0 ? `${piece.slice(0, at).toLowerCase()}@${domain.value}` : '';
    if (hasFormat('email', email)) yield { type: 'email', value: email };
    if (domain) yield domain;
  }
}

/** Converts an IPv4 address in an IPv6 address to IPv4, and writes IPv6 in the form of URLs. */
export function ipIn(text: string): Spotted | undefined {
  if (!hasFormat('ip', text) || text === '::') return undefined;
  const { family, text: value } = readIpAddress(text)!.address;
  if (family === 'ipv4') return { type: 'ip', value };
  return { type: 'ip', value: new URL(`http://[${value}]`).hostname.slice(1, -1) };
}

const LONGEST_DOMAIN = 253;
const OTHER_SCRIPTS = /[\u0080-\uffff]/;

function domainOf(text: string, effort: Effort): Spotted | undefined {
  const name = withoutEnd(text, '.');
  if (name.length > LONGEST_DOMAIN || !looksLikeDomain(name.split('.'))) return undefined;
  if (!isWorthReading(name, LONGEST_DOMAIN, effort)) return undefined;
  const domain = OTHER_SCRIPTS.test(name) ? domainToASCII(name) : name.toLowerCase();
  return hasFormat('domain', domain) ? { type: 'domain', value: domain } : undefined;
}

/** A host in another script also costs effort, because its encoding takes quadratic time. */
function isWorthReading(host: string, longest: number, effort: Effort): boolean {
  if (host.length > longest) return false;
  if (!OTHER_SCRIPTS.test(host)) return true;
  effort.words -= host.length;
  return effort.words > 0;
}

/** A regular expression would take quadratic time for a long sequence of these characters. */
function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
