import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { literalIn, targetRules, type TargetRules } from '../addresses/target-rules.js';
import { Settings } from '../config/settings.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';

/** Resolves host names like the operating system. Tests replace this class. */
@Injectable()
export class Resolver {
  async resolve(host: string): Promise<LookupAddress[]> {
    return await lookUp(host, { all: true });
  }
}

/** Connections use only checked addresses, so DNS rebinding has no effect. A host has the form of URL#hostname. */
@Injectable()
export class Targets {
  private readonly rules: TargetRules;
  /** One lookup per name at a time: a lookup occupies one of few threads, even if its caller no longer waits. */
  private readonly lookups = new Map<string, Promise<LookupAddress[]>>();

  constructor(
    private readonly resolver: Resolver,
    settings: Settings,
  ) {
    this.rules = targetRules(settings.allowedPrivateTargets);
  }

  /** Throws if `host` is a forbidden literal address, because such a host needs no lookup. */
  lookupFor(host: string, isOperators = false): LookupFunction {
    const literal = literalIn(host);
    if (literal) this.requireAllowed(host, literal, isOperators);
    return (_, { all }, answer) => {
      this.resolve(host, isOperators).then(
        (addresses) => {
          if (all) answer(null, addresses);
          else answer(null, addresses[0]!.address, addresses[0]!.family);
        },
        (error: Error) => answer(error, ''),
      );
    };
  }

  /** Returns true if `host` is a forbidden literal address. The addresses of a name are checked for each connection. */
  refusesAddress(host: string): boolean {
    const literal = literalIn(host);
    return literal !== undefined && this.rules(literal) !== undefined;
  }

  private async resolve(host: string, isOperators: boolean): Promise<LookupAddress[]> {
    let addresses: LookupAddress[];
    try {
      addresses = await this.find(host);
    } catch (cause) {
      throw new UnreachableError(`The name ${host} does not resolve.`, { cause });
    }
    if (addresses.length === 0) throw new UnreachableError(`The name ${host} has no address.`);
    for (const { address } of addresses) this.requireAllowed(host, address, isOperators);
    return addresses;
  }

  private find(host: string): Promise<LookupAddress[]> {
    const present = this.lookups.get(host);
    if (present) return present;
    const found = this.resolver.resolve(host).finally(() => this.lookups.delete(host));
    this.lookups.set(host, found);
    return found;
  }

  /** All refusals have the same text, so that the text does not reveal the private addresses of a name. */
  private requireAllowed(host: string, address: string, isOperators: boolean): void {
    const refusal = this.rules(address);
    if (refusal === undefined || (isOperators && refusal === 'private')) return;
    throw new TargetRefusedError(
      `${host} is not in a public network. ALLOWED_PRIVATE_TARGETS can allow private networks; cloud metadata is always refused.`,
    );
  }
}
