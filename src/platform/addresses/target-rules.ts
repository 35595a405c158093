import ipaddr from 'ipaddr.js';
import { BlockList } from 'node:net';
import { type IpAddress, readIpAddress, readIpRange } from './ip-address.js';

/** Cloud metadata services, which give credentials to callers: AWS, Azure, Google, Alibaba, Oracle, containers. */
const METADATA = [
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::253',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
];

const isMetadata = listOf(METADATA);
const PUBLIC_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

export type Refusal = 'metadata' | 'private' | 'no address';

export type TargetRules = (address: string) => Refusal | undefined;

/** @param allowed CIDRs of private networks that may be reached. Cloud metadata is always refused. */
export function targetRules(allowed: readonly string[]): TargetRules {
  const isException = listOf(allowed);
  return (text) => {
    const read = readIpAddress(text);
    if (!read) return 'no address';
    const all = [read.address, ...read.embedded];
    if (all.some(isMetadata)) return 'metadata';
    if (isException(read.address)) return undefined;
    return all.every(isPublic) ? undefined : 'private';
  };
}

/** Names that public DNS does not resolve: RFC 6761, RFC 6762 appendix G, RFC 8375, and ICANN's `internal`. */
const PRIVATE_NAME =
  /^[^.]+\.?$|\.(localhost|local|internal|intranet|private|corp|home|lan|home\.arpa|svc|test)\.?$/i;

const rulesWithoutExceptions = targetRules([]);

/** True for an address that is not public, or a name that public DNS does not resolve. `host` is a host of Targets. */
export function isPrivateHost(host: string): boolean {
  const literal = literalIn(host);
  return literal ? rulesWithoutExceptions(literal) !== undefined : PRIVATE_NAME.test(host);
}

export function literalIn(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return bare.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(bare) ? bare : undefined;
}

function isPublic({ text }: IpAddress): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(PUBLIC_V6);
}

function listOf(cidrs: readonly string[]): (address: IpAddress) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const { text, bits, family } = readIpRange(cidr)!;
    list.addSubnet(text, bits, family);
  }
  return ({ text, family }) => list.check(text, family);
}
