import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import '../http/request.js';
import type { SealedColumn } from '../secrets/sealed-values.js';

/**
 * Two requests are the same if a principal sends the same key with the same method, address and body. JSON bodies are
 * compared by value: a retry may use another key order or other whitespace.
 */
export interface RequestIdentity {
  readonly principal: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

export function identityOf(
  request: FastifyRequest,
  principal: string,
  key: string,
): RequestIdentity {
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.body === undefined ? (request.received ?? '') : inOneOrder(request.body))
    .digest();
  return { principal, key, fingerprint };
}

function inOneOrder(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Advisory lock of a key: 64 bits of a hash. */
export function lockOf({ principal, key }: RequestIdentity): string {
  return createHash('sha256')
    .update(`idempotency\n${principal}\n${key}`)
    .digest()
    .readBigInt64BE()
    .toString();
}

/** Binds an encrypted response to its key: it cannot be decrypted in another row. */
export function secretContextOf({
  principal,
  key,
}: Pick<RequestIdentity, 'principal' | 'key'>): string {
  return `idempotency:${principal}\n${key}`;
}

/** Stored responses with a secret, such as a new API key. They are kept for one day. */
export const REMEMBERED_SECRETS: SealedColumn = {
  table: 'idempotency_keys',
  column: 'body',
  id: ['principal', 'key'],
  where: 'sealed',
  context: ({ principal, key }) => secretContextOf({ principal: principal!, key: key! }),
};
