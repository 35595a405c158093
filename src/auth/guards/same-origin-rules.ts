/** The parts of a request that tell which site it came from. */
export interface Origins {
  readonly protocol: string;
  readonly host: string;
  readonly secFetchSite: string | undefined;
  readonly origin: string | undefined;
}

export type OriginVerdict = 'same' | 'other' | 'unknown';

/** What the browser says of where a request came from; nothing else than a browser says anything. */
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
  // Behind a proxy that is not trusted we see http where the browser sees https, so only the reverse is refused.
  const weaker = protocol === 'https' && from.protocol !== 'https:';
  return from.host === host.toLowerCase() && !weaker;
}
