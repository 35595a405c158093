import type { FastifyRequest } from 'fastify';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** `unknown` when nothing tells: a program sends neither header. */
export type OriginVerdict = 'same' | 'other' | 'unknown';

/** The parts of a request that tell which site it came from. */
export interface Origins {
  readonly protocol: string;
  readonly host: string;
  readonly secFetchSite: string | undefined;
  readonly origin: string | undefined;
}

/** Whether a request may change something, by its method. */
export function isUnsafeMethod({ method }: FastifyRequest): boolean {
  return !SAFE_METHODS.has(method);
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

/** Only browsers send these headers, and no page can make a browser send others. */
export function judgeOrigin({ protocol, host, secFetchSite, origin }: Origins): OriginVerdict {
  if (secFetchSite !== undefined) {
    return secFetchSite === 'same-origin' || secFetchSite === 'none' ? 'same' : 'other';
  }
  if (origin === undefined) return 'unknown';
  return isThisHost(origin, protocol, host) ? 'same' : 'other';
}

function isThisHost(origin: string, protocol: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  // Behind a proxy that is not trusted the service sees http where the browser sees https: only the reverse is refused.
  const weaker = protocol === 'https' && from.protocol !== 'https:';
  return from.host === host.toLowerCase() && !weaker;
}
