import { createHmac, randomBytes } from 'node:crypto';

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 32;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

export function newSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/** Why a secret cannot be used, as the end of a sentence; undefined when it can. */
export function secretProblem(secret: string): string | undefined {
  const encoded = secret.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isExact = secret.startsWith(PREFIX) && bytes.toString('base64') === encoded;
  const isOfGoodSize = bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES;
  if (isExact && isOfGoodSize) return undefined;
  return `must be ${PREFIX} and the base64 of ${LEAST_BYTES} to ${MOST_BYTES} random bytes`;
}

/**
 * The headers that let a receiver know who sent the body and when. With several secrets there is a signature by each, and one
 * of them is enough for the receiver.
 */
export function signatureHeaders(
  body: string,
  {
    id,
    at,
    secrets,
  }: { readonly id: string; readonly at: Date; readonly secrets: readonly string[] },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
