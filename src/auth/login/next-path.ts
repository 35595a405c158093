export const DEFAULT_NEXT = '/docs';

const LONGEST = 1_024;
const BASE = 'http://this.host';
/** How often a proxy in between might decode what it passes on. */
const DECODINGS = 3;
/** Browsers read a backslash as a slash, and drop tabs and line breaks. */
const NEVER_IN_A_PATH = /[\\\s\p{Cc}]/u;

/** Where to go after the login: a path on this host, or the default for whatever is not plainly one. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string' || next.length > LONGEST) return DEFAULT_NEXT;
  let form = next;
  for (let decoding = 0; decoding <= DECODINGS; decoding += 1) {
    if (!isLocalPath(form)) return DEFAULT_NEXT;
    const decoded = decode(form);
    if (decoded === undefined) return DEFAULT_NEXT;
    if (decoded === form) break;
    form = decoded;
  }
  const { pathname, search, hash } = new URL(next, BASE);
  return `${pathname}${search}${hash}`;
}

function isLocalPath(path: string): boolean {
  if (!/^\/(?!\/)/.test(path) || NEVER_IN_A_PATH.test(path.split(/[?#]/, 1)[0]!)) return false;
  if (!URL.canParse(path, BASE)) return false;
  const url = new URL(path, BASE);
  return url.origin === BASE && !url.pathname.startsWith('//');
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
