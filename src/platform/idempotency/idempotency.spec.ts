import type { DataSource } from 'typeorm';
import { Transactions, type Tx } from '../database/transactions.js';
import { AnsweredBefore } from '../http/answer.js';
import { IdempotentRequest } from './idempotency.js';

const identity = { principal: 'ana', key: 'key-1', fingerprint: Buffer.from('the request') };
const tx = {} as Tx;
const CONTEXT = 'idempotency:ana\nkey-1';

const STORED = {
  fingerprint: identity.fingerprint,
  status: 201,
  body: '{"data":1}',
  sealed: false,
  under_way: false,
};

/** Creates a request whose statements return the given rows. */
function setUp(found?: Partial<typeof STORED>) {
  const rows: Record<string, object[]> = {
    idempotency_lock: [{ locked: true }],
    idempotency_find: found ? [{ ...STORED, ...found }] : [],
    idempotency_remember: [{}],
    idempotency_release: [],
  };
  const rowsIn = jest.fn(
    async (_tx: unknown, { name }: { readonly name: string }, _values?: unknown[]) =>
      rows[name] as never[],
  );
  const secrets = {
    seal: (text: string, context: string) => `sealed(${text} for ${context})`,
    open: (text: string, context: string) => `opened(${text} for ${context})`,
  };
  const request = new IdempotentRequest({ rowsIn }, secrets, identity, { statusCode: 200 });
  /** Returns the values of each execution of a statement. */
  const sent = (name: string) =>
    rowsIn.mock.calls
      .filter(([, one]) => one.name === `idempotency_${name}`)
      .map((call) => call[2]!);
  /** Returns the values that the statement stored, in the order of its columns. */
  const stored = (at = 0) => {
    const [, , , owner, status, body, sealed, provisionalForMs] = sent('remember')[at]!;
    return { owner, status, body, sealed, provisionalForMs };
  };
  /** Runs one transaction that stores `result`, from begin to commit. */
  const run = (...options: Parameters<typeof request.remember>) =>
    transactions.run(async () => 'result', request.remember(...options));
  return { rows, rowsIn, request, run, sent, stored };
}

/** Transactions without a database. */
const transactions = new Transactions({
  transaction: (work: (manager: object) => Promise<unknown>) => work({}),
} as unknown as DataSource);

const asItIs = (result: unknown): unknown => result;

describe('a request with an Idempotency-Key', () => {
  it('is rejected if another request used the key, even while that request is running', async () => {
    const fingerprint = Buffer.from('another');
    const { request } = setUp({ fingerprint, under_way: true });
    await expect(request.begin()).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('is rejected while another transaction holds the lock of the key', async () => {
    const { rows, run, sent } = setUp();
    rows['idempotency_lock'] = [{ locked: false }];
    await expect(run(asItIs)).rejects.toMatchObject({ code: 'conflict' });
    expect(sent('find')).toEqual([]);
  });

  it('ends its transaction and returns the response that a repetition committed meanwhile', async () => {
    const { run } = setUp({});
    const error = await run(asItIs).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnsweredBefore);
    expect(error).toMatchObject({ answer: { status: 201, body: '{"data":1}' } });
  });

  it('is rejected if a repetition has taken over its row', async () => {
    const { rows, run } = setUp();
    rows['idempotency_remember'] = [];
    await expect(run(asItIs)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('continues in a later transaction without another check, even if it lost its row', async () => {
    const { rows, run, sent } = setUp();
    await run(asItIs);
    rows['idempotency_remember'] = [];
    await run(asItIs);
    expect(sent('remember')).toHaveLength(2);
    expect(sent('lock')).toHaveLength(1);
  });

  it('stores nothing in a transaction that ends after the response was sent', async () => {
    const { request, run, sent } = setUp();
    await request.answer({ status: 200, body: '{}' });
    await run(asItIs);
    expect(sent('remember')).toEqual([]);
  });

  it('returns the response of the handler if nothing was committed', async () => {
    const { request, sent } = setUp();
    const participant = request.remember(asItIs);
    await participant.begin!(tx);
    await participant.finish!(tx, 'result');
    const given = { status: 200, body: '{}' };
    expect(await request.answer(given)).toBe(given);
    expect(sent('remember')).toHaveLength(1);
  });

  it('replaces a provisional response by the response of the handler, sealed if the provisional response was sealed', async () => {
    const { request, run, stored } = setUp();
    await run(asItIs, { provisionalForMs: 5_000, secret: true });
    expect(stored().provisionalForMs).toBe(5_000);
    const given = { status: 200, body: 'done' };
    expect(await request.answer(given)).toBe(given);
    const body = `sealed(done for ${CONTEXT})`;
    const { owner } = stored();
    expect(stored(1)).toEqual({ owner, status: 200, body, sealed: true, provisionalForMs: null });
  });

  it('returns the response even if the final response cannot be stored', async () => {
    const { rowsIn, request, run } = setUp();
    await run(asItIs, { provisionalForMs: 5_000 });
    rowsIn.mockRejectedValue(new Error('The database is away.'));
    const given = { status: 200, body: 'done' };
    expect(await request.answer(given)).toBe(given);
  });

  it.each([
    ['nothing was remembered', false],
    ['the request was answered', true],
  ])('does not release the key when %s', async (_, wasRemembered) => {
    const { request, run, sent } = setUp();
    if (wasRemembered) {
      await run(asItIs);
      await request.answer({ status: 200, body: '{}' });
    }
    await request.release().finish!(tx, undefined);
    expect(sent('release')).toEqual([]);
  });
});
