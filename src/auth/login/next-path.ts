import type { FastifyRequest } from 'fastify';
import { escapeHtml } from '../../platform/http/page-look.js';
import { textField } from './form-page.js';

const DEFAULT_NEXT = '/docs';

const LONGEST = 1_024;
const BASE = 'http://this.host';
/** A proxy in between may decode the path, and another one may do so again. */
const DECODINGS = 3;
/** Browsers read a backslash as a slash, and drop tabs and line breaks. */
const NEVER_IN_A_PATH = /[\\\s\p{Cc}]/u;

/**
 * Where a form goes on: the field of the form says it, or else the query, so that a link to /login?next=… still leads
 * there after a failed attempt.
 */
export function nextOf(request: FastifyRequest): string {
  return safeNext(textField(request.body, 'next') ?? textField(request.query, 'next'));
}

/** For a form, which sends `next` back. */
export function nextField(next: string): string {
  return next === DEFAULT_NEXT
    ? ''
    : `\n      <input type="hidden" name="next" value="${escapeHtml(next)}">`;
}

/** A path on this host, or the default for whatever is not plainly one. */
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
