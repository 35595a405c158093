import { BlockList, isIP, isIPv6 } from 'node:net';

/** Domains that nobody can own (RFC 2606, RFC 6761). */
const RESERVED = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?$/i;

/** Addresses of documentation (RFC 5737, RFC 3849) and of private networks, which lead to nobody outside. */
const addresses = new BlockList();
for (const [network, bits] of [
  ['192.0.2.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
] as const) {
  addresses.addSubnet(network, bits, 'ipv4');
}
addresses.addSubnet('2001:db8::', 32, 'ipv6');
addresses.addAddress('::1', 'ipv6');

const HOST_OF_URL =
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#@]*@)?([^\s/?#:;,"'<>\\()[\]\p{Cf}]+)/giu;
/** Behind a local part: `@odata.type` is a key of Microsoft. */
const DOMAIN_OF_MAIL = /(?<=[\p{L}\p{N}_.+-])@((?:[\p{L}\p{N}_-]+\.)+\p{L}{2,})/gu;
/** Endings that real hosts have and that files seldom have: enough to find a host outside of a URL. */
const BARE_HOST =
  /(?<![\p{L}\p{N}_.-])((?:[\p{L}\p{N}_-]+\.)+(?:com|net|org|info|biz|io|co|dev|app|cloud|online|site|shop|xyz|top|de|uk|fr|eu|us|ru|cn))(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/giu;
const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;
const IPV6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?!\.?[\w:])/gi;

/** The hosts and addresses in a text that may belong to somebody. */
export function ownedNames(text: string): string[] {
  const found = [HOST_OF_URL, DOMAIN_OF_MAIL, BARE_HOST].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name),
  );
  const hosts = found.filter((name) => isIP(name) === 0 && !RESERVED.test(name));
  const literals = [...text.matchAll(IPV4), ...text.matchAll(IPV6)].map(([literal]) => literal);
  return [...new Set([...hosts, ...literals.filter(isOwned)])];
}

function isOwned(literal: string): boolean {
  return isIP(literal) > 0 && !addresses.check(literal, isIPv6(literal) ? 'ipv6' : 'ipv4');
}
