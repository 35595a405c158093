import { lookup as lookUp } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';
import { isPrivateName, targetRules, type TargetRules } from './target-rules.js';

export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds the addresses of a host name; the system's resolver unless a test has one of its own. */
@Injectable()
export class Resolver {
  async resolve(host: string): Promise<PinnedAddress[]> {
    const found = await lookUp(host, { all: true });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  }
}

/**
 * Decides where the service may connect to. A name is resolved once, every address of it has to be allowed, and the
 * connection goes to those addresses: a name that leads elsewhere the next time gains nothing.
 */
@Injectable()
export class Targets {
  private readonly rules: TargetRules;

  constructor(
    private readonly resolver: Resolver,
    settings: Settings,
  ) {
    this.rules = targetRules(settings.allowedPrivateTargets);
  }

  /** @param host as the URL has it: lower case, IPv6 in brackets, numbers in any form already read as an address */
  async pin(host: string): Promise<readonly PinnedAddress[]> {
    const addresses = await this.resolve(host);
    for (const { address } of addresses) {
      if (this.rules(address)) throw new TargetRefusedError(refusalOf(host));
    }
    return addresses;
  }

  /** Why a host that is an address is refused, wherever it is given; undefined for every name. See `pin` for the form. */
  refusalOfAddress(host: string): string | undefined {
    const literal = addressIn(host);
    return literal && this.rules(literal.address) ? refusalOf(host) : undefined;
  }

  /** Whether a host is in a private network: by its address, or by a name that means nothing outside of one. See `pin`. */
  isPrivate(host: string): boolean {
    const literal = addressIn(host);
    return literal ? rulesWithoutExceptions(literal.address) !== undefined : isPrivateName(host);
  }

  private async resolve(host: string): Promise<readonly PinnedAddress[]> {
    const literal = addressIn(host);
    if (literal) return [literal];
    let addresses: PinnedAddress[];
    try {
      addresses = await this.resolver.resolve(host);
    } catch (cause) {
      throw new UnreachableError(`The name ${host} does not resolve.`, { cause });
    }
    if (addresses.length === 0) throw new UnreachableError(`The name ${host} has no address.`);
    return addresses;
  }
}

/** With no exception for this site. */
const rulesWithoutExceptions = targetRules([]);

function addressIn(host: string): PinnedAddress | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (bare.includes(':')) return { address: bare, family: 6 };
  return /^\d+\.\d+\.\d+\.\d+$/.test(bare) ? { address: bare, family: 4 } : undefined;
}

/** Says the same for every kind of refusal: which private addresses there are is nobody's business. */
function refusalOf(host: string): string {
  return `${host} is not on a public network; ALLOWED_PRIVATE_TARGETS can name private ones, and cloud metadata is always refused.`;
}
