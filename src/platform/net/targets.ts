import { lookup as lookUp } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { NameLookups } from './name-lookups.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';
import { literalIn, targetRules, type TargetRules } from '../addresses/target-rules.js';

export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds the addresses of a host name, as the system does. Tests put another one in its place. */
@Injectable()
export class Resolver {
  async resolve(host: string): Promise<PinnedAddress[]> {
    const found = await lookUp(host, { all: true });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  }
}

/**
 * Decides where the service may connect to. A name is resolved once, every address of it has to be allowed, and the
 * connection goes to just those addresses. So an attacker gains nothing by a name that leads elsewhere the next time
 * (DNS rebinding).
 */
@Injectable()
export class Targets {
  private readonly rules: TargetRules;
  private readonly lookups: NameLookups<PinnedAddress[]>;

  constructor(resolver: Resolver, settings: Settings) {
    this.rules = targetRules(settings.allowedPrivateTargets);
    this.lookups = new NameLookups((host) => resolver.resolve(host));
  }

  /**
   * The addresses to connect to.
   *
   * @param host as URL#hostname writes it: in lower case, IPv6 in brackets, and an address in whatever spelling (`0x7f.1`)
   *   already written as usual
   */
  async pin(host: string): Promise<readonly PinnedAddress[]> {
    return await this.pinUnless((address) => this.rules(address) !== undefined, host);
  }

  /** The same for a host that the operator's settings name: it may be in a private network without being listed. */
  async pinOperators(host: string): Promise<readonly PinnedAddress[]> {
    return await this.pinUnless(
      (address) => !['private', undefined].includes(this.rules(address)),
      host,
    );
  }

  private async pinUnless(
    refused: (address: string) => boolean,
    host: string,
  ): Promise<readonly PinnedAddress[]> {
    const addresses = await this.resolve(host);
    if (addresses.some(({ address }) => refused(address))) {
      throw new TargetRefusedError(refusalOf(host));
    }
    return addresses;
  }

  /** Why a host that is an address is refused; undefined for every name. The host is written as for `pin`. */
  refusalOfAddress(host: string): string | undefined {
    const literal = literalIn(host);
    return literal && this.rules(literal) ? refusalOf(host) : undefined;
  }

  private async resolve(host: string): Promise<readonly PinnedAddress[]> {
    const literal = literalIn(host);
    if (literal) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }];
    let addresses: PinnedAddress[];
    try {
      addresses = await this.lookups.find(host);
    } catch (cause) {
      throw new UnreachableError(`The name ${host} does not resolve.`, { cause });
    }
    if (addresses.length === 0) throw new UnreachableError(`The name ${host} has no address.`);
    return addresses;
  }
}

/** The same text for every refusal, so that nobody learns from it which private addresses a name leads to. */
function refusalOf(host: string): string {
  return `${host} is not on a public network; ALLOWED_PRIVATE_TARGETS can name private ones, and cloud metadata is always refused.`;
}
