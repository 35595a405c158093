import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const SESSION_COOKIE = 'its_session';
/** Browsers take a cookie of this prefix over https alone, and from this very host: no neighbour can plant one. */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

/** The session token that the browser brought, under the one name that counts for its connection. */
export function sessionTokenOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(request)];
}

/** Without an expiry of its own: the browser drops it when it closes, and the server ends the session in any case. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): void {
  void reply.setCookie(cookieName(request), token, options(request));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(cookieName(request), options(request));
}

function cookieName(request: FastifyRequest): string {
  return isSecure(request) ? SECURE_SESSION_COOKIE : SESSION_COOKIE;
}

function options(request: FastifyRequest) {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(request) } as const;
}

/** As a trusted proxy tells it, see TRUST_PROXY. */
function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}
