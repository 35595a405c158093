import { FairQueue, type Waiter } from './fair-queue.js';

const stranger = (...groups: string[]): Waiter => ({ groups, preferred: false });
const preferred = (...groups: string[]): Waiter => ({ groups, preferred: true });

const queueOf = (atATime: number, mostWaiting: number) =>
  new FairQueue(atATime, mostWaiting, () => new Error('Too many wait.'));

describe('FairQueue', () => {
  let running: (() => void)[];
  let order: string[];

  beforeEach(() => {
    running = [];
    order = [];
  });

  const send = (queue: FairQueue, name: string, waiter: Waiter) =>
    queue.run(waiter, async () => {
      order.push(name);
      await new Promise<void>((done) => running.push(done));
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finishAll = async (): Promise<string[]> => {
    await settle();
    while (running.length > 0) {
      running.shift()!();
      await settle();
    }
    return order;
  };

  it('limits the number of concurrent tasks', async () => {
    const queue = queueOf(2, 10);
    for (const name of ['a', 'b', 'c', 'd']) void send(queue, name, stranger(name));
    await settle();
    expect(order).toEqual(['a', 'b']);
    running.shift()!();
    await settle();
    expect(order).toEqual(['a', 'b', 'c']);
    expect(await finishAll()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('continues after a failed task', async () => {
    const queue = queueOf(1, 10);
    const failed = queue.run(stranger('a'), () => Promise.reject(new Error('failed')));
    const next = queue.run(stranger('b'), () => Promise.resolve('done'));
    await expect(failed).rejects.toThrow('failed');
    expect(await next).toBe('done');
  });

  it('makes a network that tries many accounts wait behind others', async () => {
    const queue = queueOf(1, 100);
    for (let index = 0; index < 5; index += 1) {
      void send(queue, `flood ${index}`, stranger('network 1', `account ${index}`));
    }
    void send(queue, 'one', stranger('network 2', 'account x'));
    void send(queue, 'other', stranger('network 3', 'account y'));
    const flood = [2, 3, 4].map((index) => `flood ${index}`);
    expect(await finishAll()).toEqual(['flood 0', 'flood 1', 'one', 'other', ...flood]);
  });

  it('makes callers that guess one account wait behind others, with its owner first', async () => {
    const queue = queueOf(1, 100);
    for (let index = 0; index < 4; index += 1) {
      void send(queue, `flood ${index}`, stranger(`network ${index}`, 'account 1'));
    }
    void send(queue, 'other', stranger('network 9', 'account 2'));
    void send(queue, 'owner', preferred('account 1 at network 8'));
    const expected = ['flood 0', 'owner', 'flood 1', 'other', 'flood 2', 'flood 3'];
    expect(await finishAll()).toEqual(expected);
  });

  it('starves no caller while others keep arriving', async () => {
    const queue = queueOf(1, 100);
    for (let index = 0; index < 3; index += 1) void send(queue, `flood ${index}`, stranger('a'));
    for (let index = 0; index < 6; index += 1) {
      await settle();
      running.shift()!();
      await settle();
      void send(queue, `new ${index}`, stranger(`b${index}`));
    }
    const all = await finishAll();
    expect(all.indexOf('flood 2')).toBeLessThan(all.indexOf('new 2'));
  });

  it('rejects the last task in the order when too many wait, not the newest one', async () => {
    const queue = queueOf(1, 3);
    const flood = Array.from({ length: 5 }, (_, index) =>
      send(queue, `flood ${index}`, stranger('a')).catch((error: Error) => error.message),
    );
    await expect(flood[4]).resolves.toBe('Too many wait.');
    const valid = send(queue, 'valid', stranger('b'));
    await expect(flood[3]).resolves.toBe('Too many wait.');
    const owner = send(queue, 'owner', preferred('c'));
    await expect(flood[2]).resolves.toBe('Too many wait.');
    expect(await finishAll()).toEqual(['flood 0', 'owner', 'flood 1', 'valid']);
    await Promise.all([valid, owner]);
  });
});
