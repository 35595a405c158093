import type { LookupAddress } from 'node:dns';
import { createServer, type Server, type Socket, type AddressInfo } from 'node:net';
import { BYTES_ONE_BY_ONE, FakeVendor } from '../../../test/support/fake-vendor.js';
import type { Settings } from '../config/settings.js';
import { OutcomeUnknownError, TargetRefusedError, UnreachableError } from './net.errors.js';
import { OutboundHttp } from './outbound-http.js';
import type { OutboundRequest } from './outbound-request.js';
import { type Resolver, Targets } from './targets.js';

/** Answers each lookup with the next of the given results. */
class FakeResolver implements Resolver {
  lookups = 0;

  constructor(private readonly answers: readonly (readonly string[])[]) {}

  async resolve(): Promise<LookupAddress[]> {
    const addresses = this.answers[Math.min(this.lookups, this.answers.length - 1)]!;
    this.lookups += 1;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }
}

function client(
  allowed: readonly string[],
  resolver: Resolver = new FakeResolver([['127.0.0.1']]),
) {
  return new OutboundHttp(
    new Targets(resolver, { allowedPrivateTargets: allowed } as unknown as Settings),
  );
}

function post(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'POST', url: new URL(url), body: '{}', ...more };
}

describe('OutboundHttp', () => {
  let vendor: FakeVendor;
  const http = client(['127.0.0.0/8']);

  beforeAll(async () => {
    vendor = await FakeVendor.start();
  });

  beforeEach(async () => {
    vendor.forget();
    while (vendor.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  afterAll(() => vendor.stop());

  describe('when the target is not allowed', () => {
    const closed = client([]);

    it.each([
      ['loopback', 'http://127.0.0.1'],
      ['a decimal address', 'http://2130706433'],
      ['an octal address', 'http://0177.0.0.1'],
      ['a hexadecimal address', 'http://0x7f.1'],
      ['a short address', 'http://127.1'],
      ['nothing but zero', 'http://0'],
      ['IPv6 loopback', 'http://[::1]'],
      ['a mapped address', 'http://[::ffff:127.0.0.1]'],
      ['fullwidth digits', 'http://１２７.0.0.1'],
      ['a name that resolves to loopback', 'http://localhost'],
      ['cloud metadata', 'http://169.254.169.254'],
      ['a trailing dot', 'http://127.0.0.1.'],
    ])('refuses %s and sends nothing', async (_, origin) => {
      const url = new URL(origin);
      url.port = String(vendor.port);
      await expect(closed.request(post(url.toString()))).rejects.toThrow(TargetRefusedError);
      expect(vendor.requests).toEqual([]);
    });

    it('always refuses cloud metadata', async () => {
      const open = client(['0.0.0.0/0', '::/0']);
      for (const host of ['169.254.169.254', '[fd00:ec2::254]', '[::ffff:169.254.169.254]']) {
        await expect(open.request(post(`http://${host}/`))).rejects.toThrow(TargetRefusedError);
      }
    });

    it('refuses a name with one private address among public addresses', async () => {
      const mixed = client([], new FakeResolver([['93.184.216.34', '10.0.0.1']]));
      await expect(mixed.request(post('http://vendor.example'))).rejects.toThrow(
        TargetRefusedError,
      );
    });

    it.each(['ftp://vendor.example', 'file:///etc/passwd', 'http://u:p@vendor.example'])(
      'refuses the URL %s',
      async (url) => {
        await expect(client([]).request(post(url))).rejects.toThrow(TargetRefusedError);
      },
    );
  });

  describe('when the operator configured the target', () => {
    const own = (url: string): OutboundRequest => post(url, { operatorsTarget: true });

    it.each(['127.0.0.1', 'model.internal'])('reaches %s in a private network', async (host) => {
      const answer = await client([]).request(own(`http://${host}:${vendor.port}/v1`));
      expect(answer.status).toBe(200);
    });

    it.each([
      'http://169.254.169.254',
      'http://[::ffff:169.254.169.254]',
      'http://[fd00:ec2::254]',
    ])('still refuses cloud metadata at %s', async (url) => {
      await expect(client([]).request(own(url))).rejects.toThrow(TargetRefusedError);
    });

    it('refuses a name with cloud metadata among its addresses', async () => {
      const mixed = client([], new FakeResolver([['127.0.0.1', '169.254.169.254']]));
      const request = mixed.request(own(`http://model.internal:${vendor.port}`));
      await expect(request).rejects.toThrow(TargetRefusedError);
      expect(vendor.requests).toEqual([]);
    });
  });

  it('resolves a name once and connects to the allowed address, even if the name now resolves elsewhere', async () => {
    const rebinding = new FakeResolver([['127.0.0.1'], ['127.0.0.2']]);
    const rebound = client(['127.0.0.1'], rebinding);
    const answer = await rebound.request(post(`http://vendor.example:${vendor.port}/a`));
    expect(answer.status).toBe(200);
    expect(rebinding.lookups).toBe(1);
    expect(vendor.requests[0]!.headers.host).toBe(`vendor.example:${vendor.port}`);
    await expect(rebound.request(post(`http://vendor.example:${vendor.port}/a`))).rejects.toThrow(
      TargetRefusedError,
    );
  });

  it('follows no redirect', async () => {
    vendor.behave('redirect');
    vendor.location = `${vendor.url}/elsewhere`;
    const answer = await http.request(post(vendor.url));
    expect(answer.status).toBe(307);
    expect(vendor.requests).toHaveLength(1);
  });

  it('sends nothing when beforeLeaving throws, and throws its error', async () => {
    const refusal = new Error('the switch is on');
    const beforeLeaving = async (): Promise<void> => {
      throw refusal;
    };
    await expect(http.request(post(vendor.url, { beforeLeaving }))).rejects.toBe(refusal);
    expect(vendor.requests).toEqual([]);
  });

  it('calls beforeLeaving with the connection open, immediately before sending', async () => {
    let asked = 0;
    let connectionsThen = 0;
    const beforeLeaving = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      connectionsThen = vendor.connections;
      asked = performance.now();
    };
    await http.request(post(vendor.url, { beforeLeaving }));
    expect(connectionsThen).toBe(1);
    expect(vendor.requests[0]!.at).toBeGreaterThan(asked);
  });

  it('sends nothing if it is aborted during beforeLeaving', async () => {
    const controller = new AbortController();
    const beforeLeaving = async (): Promise<void> => controller.abort();
    await expect(
      http.request(post(vendor.url, { beforeLeaving, signal: controller.signal })),
    ).rejects.toThrow(UnreachableError);
    expect(vendor.requests).toEqual([]);
  });

  it.each([
    'apply-then-drop',
    'drop-before-reading',
    'hang',
    'huge',
    'slow-drip',
    'garbage',
    'upgrade',
    'truncated',
    'byte-by-byte',
  ] as const)(
    'throws OutcomeUnknownError if the vendor behaves like this: %s',
    async (behaviour) => {
      vendor.behave(behaviour);
      const request = post(vendor.url, { timeoutMs: 300, maxAnswerBytes: 100_000 });
      await expect(http.request(request)).rejects.toThrow(OutcomeUnknownError);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(vendor.connections).toBe(0);
    },
  );

  it('returns the first answer when the vendor sends two answers', async () => {
    vendor.behave('answer-twice');
    expect((await http.request(post(vendor.url))).status).toBe(200);
  });

  it('returns text and no JSON if the response is not JSON', async () => {
    vendor.behave('not-json', 'html');
    expect((await http.request(post(vendor.url))).json).toBeUndefined();
    expect((await http.request(post(vendor.url))).text).toContain('<html>');
  });

  it('needs only about the size of a response as memory, even if the response arrives byte by byte', async () => {
    vendor.behave('byte-by-byte');
    const { body } = await http.request(post(vendor.url));
    expect(body).toHaveLength(BYTES_ONE_BY_ONE);
    expect(body.buffer.byteLength).toBeLessThanOrEqual(2 * BYTES_ONE_BY_ONE);
  });

  it.each<Readonly<Record<string, string>>>([
    { authorization: 'one\ntwo' },
    { authorization: 'schlüssel\u0100' },
    { 'a b': '' },
  ])('throws UnreachableError if HTTP does not allow the headers %j', async (headers) => {
    const error: unknown = await http.request(post(vendor.url, { headers })).catch((one) => one);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ temporary: false });
    expect(String(error)).not.toContain('two');
    expect(vendor.requests).toEqual([]);
  });

  it('discards a compressed response', async () => {
    vendor.behave('compressed');
    const answer = await http.request(post(vendor.url));
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(vendor.requests[0]!.headers['accept-encoding']).toBe('identity');
  });

  it('throws UnreachableError if nobody listens', async () => {
    const gone = await FakeVendor.start();
    const { url } = gone;
    await gone.stop();
    await expect(http.request(post(url))).rejects.toThrow(UnreachableError);
  });

  it('throws UnreachableError if the name resolves too slowly', async () => {
    const never = client([], { resolve: () => new Promise(() => undefined) });
    const request = post('http://vendor.example', { timeoutMs: 50 });
    await expect(never.request(request)).rejects.toThrow(UnreachableError);
  });

  describe('with a listener without TLS', () => {
    let silent: Server;
    const sockets = new Set<Socket>();
    const heard: Buffer[] = [];

    beforeAll(async () => {
      silent = createServer((socket) => {
        sockets.add(socket);
        socket.on('data', (chunk: Buffer) => heard.push(chunk));
        socket.on('error', () => undefined);
      });
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });

    afterAll(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });

    it('sends nothing of the request before the certificate is verified', async () => {
      const { port } = silent.address() as AddressInfo;
      const request = post(`https://127.0.0.1:${port}`, { body: 'secret', timeoutMs: 100 });
      await expect(http.request(request)).rejects.toThrow(UnreachableError);
      expect(Buffer.concat(heard).toString('latin1')).not.toContain('secret');
    });
  });
});
