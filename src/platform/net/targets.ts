import { lookup as lookUp } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';
import { literalIn, targetRules, type TargetRules } from '../addresses/target-rules.js';

export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves host names like the operating system. Tests replace it. */
@Injectable()
export class Resolver {
  async resolve(host: string): Promise<PinnedAddress[]> {
    const found = await lookUp(host, { all: true });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  }
}

/**
 * Decides which addresses the service may connect to. A name is resolved once, all its addresses must be allowed, and
 * the connection uses only those, so DNS rebinding has no effect.
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
   * Returns the addresses to connect to.
   *
   * @param host in the form of URL#hostname: lower case, IPv6 in brackets, IPv4 in dotted decimal (`0x7f.1` is already
   * converted)
   */
  async pin(host: string): Promise<readonly PinnedAddress[]> {
    return await this.pinUnless((address) => this.rules(address) !== undefined, host);
  }

  /** Like `pin`, for a host in the settings of the operator: it may be in any private network. */
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

  /** Whether a literal address is refused. A name is not: `pin` checks its addresses. `host` as for `pin`. */
  refusesAddress(host: string): boolean {
    const literal = literalIn(host);
    return literal !== undefined && this.rules(literal) !== undefined;
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

/** The same text for every refusal, so that it does not reveal which private addresses a name has. */
function refusalOf(host: string): string {
  return `${host} is not in a public network. ALLOWED_PRIVATE_TARGETS can allow private networks; cloud metadata is always refused.`;
}

/** A healthy name server answers within this time, even on a busy machine. */
const PROMPT_MS = 1_000;

/**
 * Looks up names like the operating system. A look-up takes one of few threads until it ENDS, even if its caller has
 * given up, so a hanging name server must not take all threads. Each name has at most one look-up at a time, shared by
 * all callers. Names that were slow last time wait for each other: together they take one thread.
 */
export class NameLookups<T> {
  private readonly underWay = new Map<string, Promise<T>>();
  /** Only operators choose names, so they are few. */
  private readonly slow = new Set<string>();
  private lastOfSlow: Promise<unknown> = Promise.resolve();

  constructor(private readonly lookUp: (name: string) => Promise<T>) {}

  find(name: string): Promise<T> {
    const present = this.underWay.get(name);
    if (present) return present;
    const found = this.slow.has(name) ? this.afterOtherSlow(name) : this.measured(name);
    this.underWay.set(name, found);
    // The caller may have given up and ignore the failure.
    void found.catch(() => undefined).finally(() => this.underWay.delete(name));
    return found;
  }

  private afterOtherSlow(name: string): Promise<T> {
    const found = this.lastOfSlow.then(() => this.measured(name));
    this.lastOfSlow = found.catch(() => undefined);
    return found;
  }

  /** A look-up counts as slow as soon as it is late, not only when it ends. */
  private async measured(name: string): Promise<T> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.slow.add(name);
    }, PROMPT_MS);
    timer.unref();
    try {
      return await this.lookUp(name);
    } finally {
      clearTimeout(timer);
      if (!isLate) this.slow.delete(name);
    }
  }
}
