/** @jest-environment-options {"ownModules": true} */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { ArrivingBody } from './arriving-body.js';
import { BodyMemory, Stranger } from './body-memory.js';

class Connection extends Socket {
  isHeldBack = false;
  override pause(): this {
    this.isHeldBack = true;
    return this;
  }
  override resume(): this {
    this.isHeldBack = false;
    return this;
  }
}

function arriving(memory = new BodyMemory(1_000_000)) {
  const connection = new Connection();
  const raw = new IncomingMessage(connection);
  const body = new ArrivingBody(raw, memory, undefined);
  const send = async (...chunks: string[]): Promise<void> => {
    for (const chunk of chunks) raw.push(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { raw, body, send, connection, end: () => raw.push(null) };
}

const STRANGER = Stranger.at('192.0.2.1');
const later = () => new Promise((resolve) => setImmediate(resolve));

describe('ArrivingBody', () => {
  it('puts chunks together, whatever their size', async () => {
    const { body, send, end } = arriving();
    const parts = ['a', '', 'bc', 'd'.repeat(3_000), 'e', 'f'.repeat(70_000)];
    const bytes = body.read(100_000, 'ada');
    await send(...parts);
    end();
    expect((await bytes).toString()).toBe(parts.join(''));
  });

  it('holds its sender back until somebody reads it', async () => {
    const { body, send, connection, end } = arriving();
    await send('x'.repeat(16_383));
    expect(connection.isHeldBack).toBe(false);
    await send('x');
    expect(connection.isHeldBack).toBe(true);
    const bytes = body.read(20_000, 'ada');
    expect(connection.isHeldBack).toBe(false);
    await send('yz');
    end();
    expect((await bytes).length).toBe(16_386);
  });

  it('cuts off a stranger who sends tiny chunks in thousands', async () => {
    const { raw, body, send } = arriving();
    raw.on('error', () => undefined);
    const refused = expect(body.read(20_000, STRANGER)).rejects.toThrow('too many small parts');
    await send(...Array.from({ length: 2_100 }, () => 'x'));
    await refused;
    expect(raw.destroyed).toBe(true);
  });

  it.each([
    ['tiny chunks', 'somebody known', 'ada', 1],
    ['chunks of a usual size', 'a stranger', STRANGER, 20],
  ])('takes thousands of %s from %s', async (_, __, sender, size) => {
    const { body, send, end } = arriving();
    const read = body.read(60_000, sender);
    await send(...Array.from({ length: 2_100 }, () => 'x'.repeat(size)));
    end();
    expect((await read).length).toBe(2_100 * size);
  });

  it('lets other requests have their turn after some hundred chunks', async () => {
    const { body, send, connection, end } = arriving();
    const bytes = body.read(20_000, 'ada');
    await later();
    const held: boolean[] = [];
    connection.pause = () => {
      held.push(true);
      return connection;
    };
    await send(...'x'.repeat(1_000));
    await later();
    expect(held.length).toBeGreaterThan(0);
    expect(held.length).toBeLessThan(10);
    end();
    expect((await bytes).length).toBe(1_000);
  });

  it.each([
    [true, 30_000],
    [false, 10_000],
  ])('gives up a sender (with a credential: %j) after %i ms', async (isKnown, patienceMs) => {
    const { body, send } = arriving();
    await send('{');
    jest.useFakeTimers();
    try {
      let problem: Error | undefined;
      const read = body
        .read(100, isKnown ? 'ada' : STRANGER)
        .catch((error: Error) => (problem = error));
      await jest.advanceTimersByTimeAsync(patienceMs - 1);
      expect(problem).toBeUndefined();
      await jest.advanceTimersByTimeAsync(1);
      await read;
      expect(problem).toMatchObject({
        code: 'bad_request',
        message: 'The body took too long to arrive.',
      });
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes memory as it arrives, and gives it back when it is released', async () => {
    const memory = new BodyMemory(40_000);
    const first = arriving(memory);
    const bytes = first.body.read(30_000, 'ada');
    await first.send('x'.repeat(25_000));
    first.end();
    await bytes;
    const second = arriving(memory);
    const refused = expect(second.body.read(30_000, 'ada')).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    await second.send('x'.repeat(25_000));
    await refused;
    first.body.release();
    const third = arriving(memory);
    const taken = third.body.read(30_000, 'ada');
    await third.send('x'.repeat(25_000));
    third.end();
    expect((await taken).length).toBe(25_000);
    third.body.release();
    expect(memory.reserve(40_000, 'ada', true)).toBe(true);
  });

  it('of a stranger makes way for a small one of the same network until it has arrived', async () => {
    const memory = new BodyMemory(1_000_000, 20_000);
    const hold = async (bytes: number, sender = STRANGER) => {
      const one = arriving(memory);
      let problem: unknown;
      const read = one.body.read(16_384, sender).catch((error: unknown) => (problem = error));
      await one.send('x'.repeat(bytes));
      return { ...one, read, problemOf: () => problem };
    };
    const whole = await hold(15_000);
    whole.end();
    await whole.read;
    const other = await hold(15_000, Stranger.at('198.51.100.1'));
    const first = await hold(11_000);
    const second = await hold(6_000);
    const third = await hold(1_000);
    await first.read;
    expect(first.problemOf()).toMatchObject({ code: 'service_unavailable' });
    for (const one of [second, third, other]) {
      expect(one.problemOf()).toBeUndefined();
      one.end();
      await one.read;
      expect(one.problemOf()).toBeUndefined();
    }
    // A body that has grown large is none of the small ones, and one without a byte is in nobody's way.
    const silent = await hold(0);
    const grown = arriving(memory);
    const large = grown.body.read(30_000, STRANGER);
    await grown.send('x'.repeat(100));
    await grown.send('x'.repeat(17_000));
    // Bodies that have arrived are being answered.
    const last = await hold(15_000);
    await last.read;
    expect(last.problemOf()).toMatchObject({ code: 'service_unavailable' });
    expect(silent.problemOf()).toBeUndefined();
    grown.end();
    silent.end();
    expect((await large).length).toBe(17_100);
    for (const one of [whole, other, first, second, third, last, silent, grown]) {
      one.body.release();
    }
    expect(memory.reserve(32_768, STRANGER, true)).toBe(true);
  });

  it('counts for its sender once that is known', async () => {
    const memory = new BodyMemory(160_000, 20_000);
    const first = arriving(memory);
    const bytes = first.body.read(30_000, STRANGER);
    await first.send('x'.repeat(30_000));
    first.end();
    await bytes;
    first.body.assignTo('webhook:siem');
    expect(memory.reserve(40_000, STRANGER, false)).toBe(true);
    expect(memory.reserve(10_001, 'webhook:siem', false)).toBe(false);
    memory.release(40_000, STRANGER, false);
    const second = arriving(memory);
    const others = second.body.read(30_000, STRANGER);
    await second.send('x'.repeat(15_000));
    second.end();
    await others;
    expect(() => second.body.assignTo('webhook:siem')).toThrow('Too many request bodies');
    first.body.release();
    expect(memory.reserve(40_000, 'webhook:siem', false)).toBe(true);
  });
});
