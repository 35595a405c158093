import { BASE64 } from '../signatures/signature-rules.js';
import type { SignatureScheme } from './webhook-source.js';

export const SHORTEST_SECRET = 16;
export const LONGEST_SECRET = 512;

/** White space at an end is lost where a sender trims what is pasted into it, and then no signature fits. */
export const SECRET = /^\S(?:[^]*\S)?$/;

/** Standard Webhooks writes the bytes of a secret in base64 behind this. */
const STANDARD_PREFIX = 'whsec_';

/** What a header can carry as one word. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Why no sender could use this secret for this signature, as a sentence; undefined when all is well. */
export function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  if (signature === 'standard' && secret.startsWith(STANDARD_PREFIX)) {
    const encoded = secret.slice(STANDARD_PREFIX.length);
    if (!BASE64.test(encoded)) {
      return `With the signature standard, base64 must follow ${STANDARD_PREFIX} in a secret.`;
    }
    if (Buffer.from(encoded, 'base64').length < SHORTEST_SECRET) {
      return `With the signature standard, base64 of at least ${SHORTEST_SECRET} bytes must follow ${STANDARD_PREFIX} in a secret.`;
    }
  }
  if (signature === 'token' && !VISIBLE_ASCII.test(secret)) {
    return 'With the signature token, a secret must be ASCII characters without spaces, because it is sent in a header.';
  }
  return undefined;
}
