import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const SESSION_COOKIE = 'its_session';
/** Browsers accept a cookie of this prefix only over https and only from this host, so that no neighbouring host can plant one. */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

/** The session token of the request, from the cookie whose name fits its connection (https or not). */
export function sessionTokenOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(request)];
}

/** The cookie has no expiry: the browser deletes it when it closes, and the server ends the session in any case. */
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

/** Behind a trusted proxy the proxy says so: see TRUST_PROXY. */
function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}
