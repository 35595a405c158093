/** @jest-environment-options {"ownModules": true} */
import { getEventListeners, once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { loadSettings } from '../config/settings.js';
import { ArrivingBody, BodyMemory } from './arriving-body.js';

const MIB = 1024 * 1024;

/** Memory for 12 bodies of 1 MiB. */
const twelveBodies = () => new BodyMemory(loadSettings({ BODY_LIMIT_BYTES: String(MIB) }));

function arriving(memory = twelveBodies(), announced?: number) {
  const raw = new IncomingMessage(new Socket());
  if (announced !== undefined) raw.headers = { 'content-length': String(announced) };
  const body = new ArrivingBody(raw, memory);
  const send = async (...chunks: string[]): Promise<void> => {
    for (const chunk of chunks) raw.push(chunk);
    await turns();
  };
  const end = (): void => {
    raw.complete = true;
    raw.push(null);
  };
  return { raw, body, send, end };
}

/** Waits long enough for a chunk to be read. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a body, but not its end. */
async function hold(memory: BodyMemory, bytes: number, announced?: number) {
  const one = arriving(memory, announced);
  let problem: unknown;
  const read = one.body.read(MIB).catch((error: unknown) => (problem = error));
  await one.send('x'.repeat(bytes));
  const finish = async (): Promise<unknown> => {
    one.end();
    await read;
    return problem;
  };
  return { ...one, finish, problemOf: () => problem };
}

const FULL = { code: 'service_unavailable' };
const CUT_SHORT = { code: 'bad_request', message: 'The body was cut short.' };

describe('ArrivingBody', () => {
  it('returns chunks of any size as one buffer', async () => {
    const { body, send, end } = arriving();
    const parts = ['a', '', 'bc', 'd'.repeat(3_000), 'e', 'f'.repeat(70_000)];
    const bytes = body.read(100_000);
    await send(...parts);
    end();
    expect((await bytes).toString()).toBe(parts.join(''));
  });

  it('stays unread, so that the sender waits, until `read` is called', async () => {
    const { raw, body, send, end } = arriving();
    await send('x'.repeat(70_000));
    expect(raw.readableLength).toBe(70_000);
    const bytes = body.read(70_000);
    end();
    expect((await bytes).length).toBe(70_000);
  });

  it('is read in few turns of the event loop if it arrives in thousands of tiny chunks', async () => {
    const { raw, body, send, end } = arriving();
    const bytes = body.read(20_000);
    const reads = jest.spyOn(raw, 'read');
    await send(...Array.from({ length: 10_000 }, () => 'x'));
    end();
    expect((await bytes).length).toBe(10_000);
    expect(reads.mock.calls.length).toBeLessThan(10);
  });

  it('leaves no listeners behind, however many chunks arrive', async () => {
    const { raw, body, send, end } = arriving();
    const bytes = body.read(1_000);
    for (let count = 0; count < 1_000; count += 1) await send('x');
    expect(raw.listenerCount('readable')).toBeLessThan(2);
    expect(getEventListeners(body['halt'].signal, 'abort').length).toBeLessThan(2);
    end();
    expect((await bytes).length).toBe(1_000);
    expect(raw.listenerCount('readable')).toBe(0);
    expect(getEventListeners(body['halt'].signal, 'abort')).toEqual([]);
  });

  it.each([
    ['without an error', undefined],
    ['with an error', new Error('aborted')],
  ])('is rejected if its request ends early %s', async (_, error) => {
    const waiting = arriving();
    const read = waiting.body.read(MIB);
    await waiting.send('x');
    waiting.raw.destroy(error);
    await expect(read).rejects.toMatchObject(CUT_SHORT);

    const betweenChunks = arriving();
    const pausing = betweenChunks.body.read(MIB);
    betweenChunks.raw.push('x');
    betweenChunks.raw.once('readable', () => betweenChunks.raw.destroy(error));
    await expect(pausing).rejects.toMatchObject(CUT_SHORT);

    const unread = arriving();
    unread.raw.destroy(error);
    await expect(unread.body.read(MIB)).rejects.toMatchObject(CUT_SHORT);
    await turns();
    await expect(unread.body.read(MIB)).rejects.toMatchObject(CUT_SHORT);
  });

  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['closes', (socket: Socket) => socket.destroy()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])('is rejected if the sender %s the connection before the end of the body', async (_, leave) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      const body = new ArrivingBody(request, twelveBodies());
      resolve(body.read(MIB).catch((error: unknown) => error));
      request.once('readable', () => leave(socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
    expect(await promise).toMatchObject(CUT_SHORT);
    socket.destroy();
    server.close();
  });

  it('holds the memory of a large body until the response is sent', async () => {
    const memory = twelveBodies();
    const first = await Promise.all(Array.from({ length: 12 }, () => hold(memory, MIB, MIB)));
    for (const one of first) expect(await one.finish()).toBeUndefined();
    expect((await hold(memory, MIB, MIB)).problemOf()).toMatchObject(FULL);
    first[0]!.body.release();
    expect(await (await hold(memory, MIB, MIB)).finish()).toBeUndefined();
  });

  it.each([
    ['with an announced size', MIB],
    ['without an announced size', undefined],
  ])(
    'is rejected in favour of newer bodies if it is large, old and incomplete: %s',
    async (_, announced) => {
      const memory = twelveBodies();
      const complete = await hold(memory, MIB, MIB);
      await complete.finish();
      const oldest = await hold(memory, 500_000, announced);
      for (let count = 0; count < 11 * MIB; count += 500_000)
        await hold(memory, 500_000, announced);
      const newest = await hold(memory, 500_000, MIB);
      expect(oldest.problemOf()).toMatchObject(FULL);
      expect(complete.problemOf()).toBeUndefined();
      expect(await newest.finish()).toBeUndefined();
    },
  );

  it('gets memory if it is small, however much memory other bodies hold', async () => {
    const memory = twelveBodies();
    const large = await Promise.all(Array.from({ length: 12 }, () => hold(memory, MIB, MIB)));
    for (const one of large) expect(await one.finish()).toBeUndefined();
    const small = await Promise.all(Array.from({ length: 99 }, () => hold(memory, 16_384)));
    for (const one of small) expect(await one.finish()).toBeUndefined();
  });
});
