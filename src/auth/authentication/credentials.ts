import type { FastifyRequest } from 'fastify';
import { sessionTokenOf } from '../sessions/session-cookie.js';

export type Credential =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'session'; readonly token: string }
  /** Something that was meant to be a credential and is none. */
  | { readonly kind: 'malformed' };

const BEARER = /^bearer +([\x21-\x7e]{1,256})$/i;
const NAME = 'authorization';

/** An Authorization header decides, whatever it says; the cookie counts only without one. */
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

/** Node keeps the first of several; a proxy in front may have judged by another. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === NAME.length && name.toLowerCase() === NAME) seen += 1;
  }
  return seen > 1;
}
