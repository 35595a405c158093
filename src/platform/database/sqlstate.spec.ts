import {
  ConnectionLostError,
  isConnectionLost,
  isDatabaseUnavailable,
  isLostRace,
  mapConstraints,
  sqlStateOf,
} from './sqlstate.js';

const failed = (code: string) => Object.assign(new Error('failed'), { code });
/** Wraps an error as TypeORM does. */
const wrapped = (driverError: Error) =>
  Object.assign(new Error('QueryFailedError'), { driverError });

describe('the meaning of a database error', () => {
  it.each<[string, Error]>([
    ['a server that shuts down', failed('57P01')],
    ['one that starts', failed('57P03')],
    ['a broken protocol', failed('08P01')],
    ['a session that idled in its transaction', failed('25P03')],
    ['a standby', failed('25006')],
    ['no server', failed('ECONNREFUSED')],
    ['a reset', failed('ECONNRESET')],
    ['no such host', failed('ENOTFOUND')],
    ['an end without a code', new Error('Connection terminated unexpectedly')],
    ['a server that hangs', new Error('Query read timeout')],
    ['no free connection', new Error('timeout exceeded when trying to connect')],
    [
      'a broken client',
      new Error('Client has encountered a connection error and is not queryable'),
    ],
  ])('is a lost connection and retryable: %s', (_, error) => {
    for (const one of [error, wrapped(error)]) {
      expect([isConnectionLost(one), isDatabaseUnavailable(one), isLostRace(one)]).toEqual([
        true,
        true,
        false,
      ]);
    }
  });

  it('is a lost connection if the connection broke between two statements', () => {
    expect(isConnectionLost(new ConnectionLostError('gone'))).toBe(true);
  });

  it.each(['40001', '40P01'])(
    'is a lost race against another transaction, not a lost connection, for %s',
    (code) => {
      const error = wrapped(failed(code));
      expect([isConnectionLost(error), isDatabaseUnavailable(error), isLostRace(error)]).toEqual([
        false,
        true,
        true,
      ]);
    },
  );

  it.each(['53300', '53100', '55P03', '57014'])('is retryable for %s', (code) => {
    expect([isConnectionLost(failed(code)), isDatabaseUnavailable(failed(code))]).toEqual([
      false,
      true,
    ]);
  });

  it.each<[unknown]>([
    [failed('23505')],
    [failed('22P02')],
    [failed('42601')],
    [new Error('Something else')],
    [new TypeError('x is not a function')],
    [undefined],
    [null],
    ['text'],
  ])('is not retryable for %p', (error) => {
    expect([isConnectionLost(error), isDatabaseUnavailable(error), isLostRace(error)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('is the mapped error for a named constraint, and otherwise the original error', async () => {
    const violation = Object.assign(failed('23505'), { constraint: 'uq_a' });
    const meanings = { uq_a: () => new Error('taken') };
    await expect(
      mapConstraints(meanings, () => Promise.reject(wrapped(violation))),
    ).rejects.toThrow('taken');
    const other = Object.assign(failed('23505'), { constraint: 'uq_b' });
    await expect(mapConstraints(meanings, () => Promise.reject(other))).rejects.toBe(other);
    expect(await mapConstraints(meanings, () => Promise.resolve(1))).toBe(1);
    expect(sqlStateOf(wrapped(violation))).toBe('23505');
  });
});
