import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { newId } from '../ids.js';
import { bareAddress } from '../addresses/network.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The sender's own id when it is a sane token, so that it finds its request in our log; else one of ours. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}

const HEADER = 'x-forwarded-for';

/**
 * Reads the addresses that proxies told of, before anybody asks for `request.ip`: with a port or brackets left on, a
 * trusted proxy would not be recognised, and one sender would be as many in limits and records as it has ports.
 */
export function installForwardedAddresses(instance: FastifyInstance): void {
  instance.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const given = headers[HEADER];
    if (typeof given === 'string') headers[HEADER] = given.split(',').map(bareAddress).join(', ');
    done();
  });
}

const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;
/** U+FFFD, which no id and no name contains. */
const UNREADABLE = '%EF%BF%BD';

/**
 * The address with something readable in place of percent-encoding in its path that stands for no text, or for NUL, and
 * of a part of an address of the API that is empty. The router would refuse it before anybody has asked who the caller is; like this it is an id,
 * or an address, that does not exist. What is wrong with the query is said of the query.
 */
export function withReadablePath(url: string): string {
  const path = url.split('?', 1)[0]!;
  const isWhole = !path.startsWith('/api/') || !/\/(\/|$)/.test(path);
  if (isWhole && !path.includes('%')) return url;
  const readablePath = path.replace(ESCAPES, readable);
  return (isWhole ? readablePath : withoutEmptyParts(readablePath)) + url.slice(path.length);
}

function withoutEmptyParts(path: string): string {
  const [root, ...parts] = path.split('/');
  return [root, ...parts.map((part) => part || UNREADABLE)].join('/');
}

function readable(escapes: string): string {
  if (escapes.includes('%00')) return UNREADABLE;
  try {
    decodeURIComponent(escapes);
    return escapes;
  } catch {
    return UNREADABLE;
  }
}
