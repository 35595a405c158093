import type { FastifyRequest } from 'fastify';
import { judgeOrigin, type OriginVerdict } from './same-origin-rules.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isUnsafeMethod(request: FastifyRequest): boolean {
  return !SAFE_METHODS.has(request.method);
}

export function originOf(request: FastifyRequest): OriginVerdict {
  const site = request.headers['sec-fetch-site'];
  return judgeOrigin({
    protocol: request.protocol,
    host: request.host,
    secFetchSite: typeof site === 'string' ? site : undefined,
    origin: request.headers.origin,
  });
}
