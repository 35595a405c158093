import { GENERIC_GUIDANCE } from './generic.js';
import { MALWARE_GUIDANCE } from './malware.js';
import { PHISHING_GUIDANCE } from './phishing.js';
import { SUSPICIOUS_LOGIN_GUIDANCE } from './suspicious-login.js';

const BY_TYPE: ReadonlyMap<string, string> = new Map([
  ['phishing', PHISHING_GUIDANCE],
  ['bec', PHISHING_GUIDANCE],
  ['spam', PHISHING_GUIDANCE],
  ['malware', MALWARE_GUIDANCE],
  ['ransomware', MALWARE_GUIDANCE],
  ['suspicious_login', SUSPICIOUS_LOGIN_GUIDANCE],
  ['account_takeover', SUSPICIOUS_LOGIN_GUIDANCE],
]);

/** For the hash of the prompts: which type is told what, and what all others are told. */
export const GUIDANCE_BY_TYPE: readonly unknown[] = [...BY_TYPE, GENERIC_GUIDANCE];

/** What this service tells a model about incidents of that type. */
export function guidanceFor(incidentType: string): string {
  return BY_TYPE.get(incidentType) ?? GENERIC_GUIDANCE;
}
