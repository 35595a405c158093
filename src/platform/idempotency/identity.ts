import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import '../http/request.js';

/** What makes two requests twins: the same key of the same principal, and the same method, address and body. */
export interface Identity {
  readonly principal: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

export function identityOf(request: FastifyRequest, principal: string, key: string): Identity {
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.received ?? '')
    .digest();
  return { principal, key, fingerprint };
}

/** The advisory lock of a key: 64 bits that nobody else takes by accident. */
export function lockOf({ principal, key }: Identity): string {
  return createHash('sha256')
    .update(`idempotency\n${principal}\n${key}`)
    .digest()
    .readBigInt64BE()
    .toString();
}

/** Binds an encrypted answer to its key: copied to another row it does not open. */
export function secretContextOf({ principal, key }: Pick<Identity, 'principal' | 'key'>): string {
  return `idempotency:${principal}\n${key}`;
}
