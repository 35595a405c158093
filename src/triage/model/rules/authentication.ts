import type { Fact, Facts } from './facts.js';

export type Method = 'spf' | 'dkim' | 'dmarc' | 'compauth';

/** Under these names gateways put what they found out about the sender, as one text. */
const SUMMARIES = [
  'authenticationresults',
  'authenticationdetails',
  'authentication',
  'authresults',
  'authres',
  'auth',
  'mailauth',
  'arcauthenticationresults',
];
const LONGEST = 4096;

/** Facts by which a gateway says that a check of the sender ended so. */
export function authenticated(facts: Facts, method: Method, ends: readonly string[]): Fact[] {
  const direct = facts.named(method, `${method}result`).filter(({ value }) => {
    return ends.includes(/^[a-z]+/.exec(String(value).slice(0, 32).toLowerCase())?.[0] ?? '');
  });
  const pattern = new RegExp(`\\b${method}=([a-z]+)`, 'g');
  const summed = facts.named(...SUMMARIES).filter(({ value }) => {
    const text = String(value).slice(0, LONGEST).toLowerCase();
    return [...text.matchAll(pattern)].some(([, result]) => ends.includes(result!));
  });
  return [...direct, ...summed];
}
