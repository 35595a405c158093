import type { AuthenticationResult } from '../../evidence/authentication-results.js';
import type { MethodResult } from '../../evidence/mail-authentication.js';
import type { Fact } from './fact.js';
import { type Facts, isOfTools } from './facts.js';

export type Method = 'spf' | 'dkim' | 'dmarc' | 'compauth';

/** What a check of the sender ended with. Of several signatures one that passes is enough, unless somebody saw none at all. */
export function resultOf(facts: Facts, method: Method): MethodResult | undefined {
  const { authentication } = facts;
  if (method !== 'dkim') return authentication[method];
  return authentication.dkim?.find(({ result }) => result === 'none') ?? authentication.dkim?.[0];
}

/** The fact that says that a check of the sender ended so, whether a gateway says it or a header. */
export function authenticated(
  facts: Facts,
  method: Method,
  ends: readonly AuthenticationResult[],
): Fact[] {
  const told = resultOf(facts, method);
  const fact = told && ends.includes(told.result) ? facts.at(told.pointer) : undefined;
  return fact ? [{ ...fact, words: `${method} ${told!.result}` }] : [];
}

/** As `authenticated`, of passed checks that the gateway itself reports: a sender can write any header. */
export function vouched(facts: Facts, method: Method): Fact[] {
  const isOwn = resultOf(facts, method)?.said_by === 'gateway';
  return isOwn ? authenticated(facts, method, ['pass']).filter(isOfTools) : [];
}
