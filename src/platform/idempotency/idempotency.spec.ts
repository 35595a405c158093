import type { DataSource } from 'typeorm';
import { Transactions, type Tx } from '../database/transactions.js';
import type { SecretBox } from '../secrets/secret-box.js';
import { AnsweredBefore } from '../http/answer.js';
import { IdempotentRequest } from './idempotency.js';
import {
  type IdempotencyRepository,
  type RememberedAnswer,
  type RequestIdentity,
  secretContextOf,
} from './idempotency.repository.js';

const identity: RequestIdentity = {
  principal: 'ana',
  key: 'key-1',
  fingerprint: Buffer.from('the request'),
};
const tx = {} as Tx;
const CONTEXT = secretContextOf(identity);

const remembered = (change: Partial<RememberedAnswer> = {}): RememberedAnswer => ({
  fingerprint: identity.fingerprint,
  status: 201,
  body: '{"data":1}',
  sealed: false,
  under_way: false,
  ...change,
});

function setUp(found?: RememberedAnswer) {
  const keys = {
    find: jest.fn(async () => found),
    lock: jest.fn(async () => true),
    remember: jest.fn<Promise<boolean>, unknown[]>(async () => true),
    complete: jest.fn<Promise<void>, unknown[]>(async () => undefined),
    release: jest.fn<Promise<void>, unknown[]>(async () => undefined),
  };
  const secrets = {
    seal: (text: string, context: string) => `sealed(${text} for ${context})`,
    open: (text: string, context: string) => `opened(${text} for ${context})`,
  };
  const request = new IdempotentRequest(
    keys as unknown as IdempotencyRepository,
    secrets as unknown as SecretBox,
    identity,
    { statusCode: 200 },
  );
  /** One transaction that stores `result`, from begin to commit. */
  const run = (...options: Parameters<typeof request.remember>) =>
    transactions.run(async () => 'result', request.remember(...options));
  return { keys, request, run };
}

/** Transactions without a database. */
const transactions = new Transactions({
  createQueryRunner: () => ({
    manager: {},
    isTransactionActive: false,
    startTransaction: async () => undefined,
    commitTransaction: async () => undefined,
    release: async () => undefined,
  }),
} as unknown as DataSource);

const asItIs = (result: unknown): unknown => result;

describe('a request with an Idempotency-Key', () => {
  it('gets no stored response if none exists', async () => {
    expect(await setUp().request.begin()).toBe(true);
  });

  it('gets the stored response of the same request', async () => {
    await expect(setUp(remembered()).request.begin()).rejects.toMatchObject({
      answer: { status: 201, body: '{"data":1}' },
    });
  });

  it('gets a sealed response decrypted', async () => {
    const { request } = setUp(remembered({ sealed: true, body: 'x' }));
    const body = `opened(x for ${CONTEXT})`;
    await expect(request.begin()).rejects.toMatchObject({ answer: { body } });
  });

  it('is rejected if another request used the key, also while that one is running', async () => {
    const fingerprint = Buffer.from('another');
    const { request } = setUp(remembered({ fingerprint, under_way: true }));
    await expect(request.begin()).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('is rejected with Retry-After while its repetition is running', async () => {
    const { request } = setUp(remembered({ under_way: true }));
    await expect(request.begin()).rejects.toMatchObject({
      code: 'conflict',
      extras: { headers: { 'retry-after': '1' } },
    });
  });

  it('is rejected while another transaction holds the lock of the key', async () => {
    const { keys, run } = setUp();
    keys.lock.mockResolvedValue(false);
    await expect(run(asItIs)).rejects.toMatchObject({ code: 'conflict' });
    expect(keys.find).not.toHaveBeenCalled();
  });

  it('ends its transaction with the response that a repetition committed meanwhile', async () => {
    const { run } = setUp(remembered());
    const error = await run(asItIs).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnsweredBefore);
    expect(error).toMatchObject({ answer: { status: 201, body: '{"data":1}' } });
  });

  it.each([
    ["the handler's own without one", {}, 200],
    ['what is made of the result', { status: () => 201 }, 201],
  ])('stores the response with the status: %s', async (_, options, status) => {
    const { keys, run } = setUp();
    await run(asItIs, options);
    expect(keys.remember.mock.calls[0]![2]).toMatchObject({
      status,
      body: '{"data":"result"}',
      sealed: false,
    });
    expect(keys.remember.mock.calls[0]![3]).toBeNull();
  });

  it('stores a response with a secret sealed, and returns it in plain text', async () => {
    const { keys, request, run } = setUp();
    await run(asItIs, { secret: true });
    expect(keys.remember.mock.calls[0]![2]).toMatchObject({
      body: `sealed({"data":"result"} for ${CONTEXT})`,
      sealed: true,
    });
    expect(await request.answer({ status: 200, body: 'other' })).toEqual({
      status: 200,
      body: '{"data":"result"}',
    });
  });

  it('is rejected if a repetition has taken the row', async () => {
    const { keys, run } = setUp();
    keys.remember.mockResolvedValue(false);
    await expect(run(asItIs)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('continues in a later transaction although it lost the row, without another check', async () => {
    const { keys, run } = setUp();
    await run(asItIs);
    keys.remember.mockResolvedValue(false);
    await run(asItIs);
    expect(keys.remember).toHaveBeenCalledTimes(2);
    expect(keys.lock).toHaveBeenCalledTimes(1);
  });

  it('stores nothing in a transaction that ends after the response', async () => {
    const { keys, request, run } = setUp();
    await request.answer({ status: 200, body: '{}' });
    await run(asItIs);
    expect(keys.remember).not.toHaveBeenCalled();
  });

  it('returns the response of the handler if nothing was committed', async () => {
    const { keys, request } = setUp();
    const participant = request.remember(asItIs);
    await participant.begin!(tx);
    await participant.finish!(tx, 'result');
    const given = { status: 200, body: '{}' };
    expect(await request.answer(given)).toBe(given);
    expect(keys.complete).not.toHaveBeenCalled();
  });

  it('returns exactly the stored response if it is final', async () => {
    const { keys, request, run } = setUp();
    await run(asItIs, { status: () => 202 });
    const answer = await request.answer({ status: 200, body: 'other' });
    expect(answer).toEqual({ status: 202, body: '{"data":"result"}' });
    expect(keys.complete).not.toHaveBeenCalled();
  });

  it('replaces a provisional response by the response of the handler, sealed if the first was sealed', async () => {
    const { keys, request, run } = setUp();
    await run(asItIs, { provisionalForMs: 5_000, secret: true });
    expect(keys.remember.mock.calls[0]![3]).toBe(5_000);
    const given = { status: 200, body: 'done' };
    expect(await request.answer(given)).toBe(given);
    const { owner } = keys.remember.mock.calls[0]![2] as { owner: string };
    const body = `sealed(done for ${CONTEXT})`;
    expect(keys.complete).toHaveBeenCalledWith(identity, {
      owner,
      status: 200,
      body,
      sealed: true,
    });
  });

  it('still answers if the final response cannot be stored', async () => {
    const { keys, request, run } = setUp();
    await run(asItIs, { provisionalForMs: 5_000 });
    keys.complete.mockRejectedValue(new Error('The database is away.'));
    const given = { status: 200, body: 'done' };
    expect(await request.answer(given)).toBe(given);
  });

  it('releases its key and claims it again in the next transaction', async () => {
    const { keys, request, run } = setUp();
    await run(asItIs);
    const { owner } = keys.remember.mock.calls[0]![2] as { owner: string };
    await transactions.run(async () => undefined, request.release());
    expect(keys.release).toHaveBeenCalledWith(expect.anything(), identity, owner);
    await run(asItIs);
    expect(keys.lock).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['nothing was remembered', false],
    ['the request was answered', true],
  ])('releases nothing when %s', async (_, wasRemembered) => {
    const { keys, request, run } = setUp();
    if (wasRemembered) {
      await run(asItIs);
      await request.answer({ status: 200, body: '{}' });
    }
    await request.release().finish!(tx, undefined);
    expect(keys.release).not.toHaveBeenCalled();
  });
});
