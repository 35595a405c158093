/** @jest-environment-options {"ownModules": true} */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { ArrivingBody, BodyMemory } from './arriving-body.js';

const MIB = 1024 * 1024;

function arriving(memory = new BodyMemory(16 * MIB, MIB), announced?: number) {
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

/** Long enough for a chunk to be read. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a body without its end. */
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

describe('ArrivingBody', () => {
  it('joins chunks of any size', async () => {
    const { body, send, end } = arriving();
    const parts = ['a', '', 'bc', 'd'.repeat(3_000), 'e', 'f'.repeat(70_000)];
    const bytes = body.read(100_000);
    await send(...parts);
    end();
    expect((await bytes).toString()).toBe(parts.join(''));
  });

  it('reads nothing, so that the sender waits, before somebody asks for it', async () => {
    const { raw, body, send, end } = arriving();
    await send('x'.repeat(70_000));
    expect(raw.readableLength).toBe(70_000);
    const bytes = body.read(70_000);
    end();
    expect((await bytes).length).toBe(70_000);
  });

  it('reads thousands of tiny chunks in few turns of the event loop', async () => {
    const { raw, body, send, end } = arriving();
    const bytes = body.read(20_000);
    const reads = jest.spyOn(raw, 'read');
    await send(...Array.from({ length: 10_000 }, () => 'x'));
    end();
    expect((await bytes).length).toBe(10_000);
    expect(reads.mock.calls.length).toBeLessThan(10);
  });

  it('holds the memory of a large body until the response is sent', async () => {
    const memory = new BodyMemory(MIB, MIB);
    const first = await hold(memory, 700_000, 700_000);
    await first.finish();
    const second = await hold(memory, 700_000, 700_000);
    expect(second.problemOf()).toMatchObject(FULL);
    first.body.release();
    const third = await hold(memory, 700_000, 700_000);
    expect(await third.finish()).toBeUndefined();
  });

  it.each([
    ['small', 16_000, 16_384],
    ['large', 500_000, MIB],
    ['large without an announced size', 500_000, undefined],
  ])(
    'is rejected for newer bodies if it is %s, old and incomplete',
    async (_, bytes, announced) => {
      const memory = new BodyMemory(4 * MIB, MIB);
      const complete = await hold(memory, bytes, bytes);
      await complete.finish();
      const oldest = await hold(memory, bytes, announced);
      for (let count = 0; count < 3 * MIB; count += bytes) await hold(memory, bytes, announced);
      const newest = await hold(memory, bytes, bytes);
      expect(oldest.problemOf()).toMatchObject(FULL);
      expect(complete.problemOf()).toBeUndefined();
      expect(await newest.finish()).toBeUndefined();
    },
  );

  it('finds room if it is small, whatever large bodies hold', async () => {
    const memory = new BodyMemory(4 * MIB, MIB);
    const large = await Promise.all(Array.from({ length: 3 }, () => hold(memory, MIB, MIB)));
    for (const one of large) expect(await one.finish()).toBeUndefined();
    expect((await hold(memory, MIB, MIB)).problemOf()).toMatchObject(FULL);
    const small = await hold(memory, 16_384);
    expect(await small.finish()).toBeUndefined();
  });

  it('has room for one body of the largest size, however little memory there is', async () => {
    const largest = await hold(new BodyMemory(65_536, MIB), MIB, MIB);
    expect(await largest.finish()).toBeUndefined();
  });
});
