import type { FastifyInstance } from 'fastify';
import './request.js';

export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** For the two pages that people open. Swagger UI sets styles inline and its images are data: addresses. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const STAY_WITH_HTTPS = 'max-age=31536000; includeSubDomains';
const PAGES = /^\/(docs|login)(\/|\?|$)/;

/** Every answer carries them, whoever sends it; behind https also the promise to stay there. */
export function installSecurityHeaders(instance: FastifyInstance): void {
  instance.addHook('onRequest', (request, reply, done) => {
    reply.headers(API_HEADERS).header('x-request-id', request.id);
    if (PAGES.test(request.url)) reply.header('content-security-policy', PAGE_POLICY);
    if (request.protocol === 'https') reply.header('strict-transport-security', STAY_WITH_HTTPS);
    done();
  });
}
