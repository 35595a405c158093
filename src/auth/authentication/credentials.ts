import type { FastifyRequest } from 'fastify';
import { sessionTokenOf } from '../sessions/session-cookie.js';

export type Credential =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'session'; readonly token: string }
  /** An Authorization header that says something else. */
  | { readonly kind: 'malformed' };

const BEARER = /^bearer +([\x21-\x7e]{1,256})$/i;
const HEADER = 'authorization';

/** The cookie counts only where there is no Authorization header, whatever that header says. */
export function credentialOf(request: FastifyRequest): Credential | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return sessionCredentialOf(request);
  const token = BEARER.exec(header)?.[1];
  return token === undefined || isRepeated(request.raw.rawHeaders)
    ? { kind: 'malformed' }
    : { kind: 'bearer', token };
}

export function sessionCredentialOf(request: FastifyRequest): Credential | undefined {
  const token = sessionTokenOf(request);
  return token === undefined || token === '' ? undefined : { kind: 'session', token };
}

/** Node reads the first of several such headers; a proxy in front of the service may have judged another. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) seen += 1;
  }
  return seen > 1;
}
