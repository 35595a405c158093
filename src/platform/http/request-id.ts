import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The sender's own id when it is a sane token, so that it finds its request in our log; else one of ours. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}
