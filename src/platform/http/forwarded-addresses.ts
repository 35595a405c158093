import type { FastifyInstance } from 'fastify';
import { bareAddress } from '../addresses/network.js';

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
