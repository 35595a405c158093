import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Settings } from '../config/settings.js';
import { OutboundHttp } from './outbound-http.js';
import type { OutboundRequest } from './outbound-request.js';
import { type Resolver, Targets } from './targets.js';

describe('Requests that reuse connections', () => {
  const sockets: Socket[] = [];
  let host = 0;
  let answer = (response: ServerResponse): void => void response.end('ok');
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  }).on('connection', (socket) => sockets.push(socket));

  beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));

  beforeEach(() => {
    sockets.length = 0;
    host += 1;
    answer = (response) => void response.end('ok');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const resolver: Resolver = { resolve: async () => [{ address: '127.0.0.1', family: 4 }] };
  const settings = { allowedPrivateTargets: ['127.0.0.0/8'] } as unknown as Settings;
  const http = new OutboundHttp(new Targets(resolver, settings));

  function send(more: Partial<OutboundRequest> = {}) {
    return http.request({
      method: 'POST',
      url: new URL(`http://receiver-${host}.example:${(server.address() as AddressInfo).port}/`),
      body: '{}',
      maxAnswerBytes: 100,
      reusesConnection: true,
      ...more,
    });
  }

  it('share one connection', async () => {
    for (let n = 0; n < 3; n += 1) {
      expect((await send()).status).toBe(200);
      await new Promise(setImmediate);
    }
    expect(sockets).toHaveLength(1);
  });

  it('share one connection if they discard the body', async () => {
    let n = 0;
    while (n === sockets.length) {
      expect((await send({ withoutBody: true })).status).toBe(200);
      n += 1;
      await new Promise((later) => setTimeout(later, 5));
    }
    expect(sockets.length).toBeLessThan(n);
  });

  it('use separate connections if they must not be repeated', async () => {
    for (let n = 0; n < 2; n += 1) await send({ reusesConnection: undefined });
    expect(sockets).toHaveLength(2);
  });

  it('are repeated over a new connection if the server closes the kept connection', async () => {
    await send();
    await new Promise(setImmediate);
    let n = 0;
    answer = (response) => void ((n += 1) === 1 ? response.socket!.destroy() : response.end('ok'));
    expect((await send()).status).toBe(200);
    expect([n, sockets.length]).toEqual([2, 2]);
  });

  it('ignore a response that arrives before the request', async () => {
    answer = (response) => {
      const { socket } = response;
      response.end('ok', () => socket!.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray'));
    };
    await send();
    await new Promise((later) => setTimeout(later, 50));
    answer = (response) => void response.end('own');
    expect((await send()).text).toBe('own');
  });

  it('fail if a new connection breaks', async () => {
    answer = (response) => void response.socket!.destroy();
    await expect(send()).rejects.toThrow('The connection failed (ECONNRESET).');
    expect(sockets).toHaveLength(1);
  });

  it('close the connection of an endless response', async () => {
    let closed: Promise<void> | undefined;
    answer = (response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(10_000), () => setImmediate(more));
      };
      more();
    };
    expect((await send({ withoutBody: true })).status).toBe(200);
    await closed;
  });
});
