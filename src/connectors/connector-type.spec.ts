import { callOf } from '../../test/support/vendors/vendor-site.js';
import { OutcomeUnknownError, UnreachableError } from '../platform/net/net.errors.js';
import { fields } from '../targets/target-config.js';
import { RefusedError } from './calls/vendor-answers.js';
import type { Outbound } from './calls/vendor-calls.js';
import { connectorOf, defineConnector, type Outcome } from './connector-type.js';

const CALL = callOf('block_ip', {});
const GATE = { send: () => Promise.reject(new Error('closed')) };

function connectorThat(send: () => Promise<Outcome>, test: () => Promise<string>) {
  const type = defineConnector({
    name: 'firewall',
    description: '',
    config: fields({}),
    connect: () => () => undefined,
    actions: { block_ip: { idempotent: true, send } },
    test,
  });
  return connectorOf(type, { id: 'c', name: 'c', type: 'firewall' }, {}, {} as Outbound);
}

describe('a connector of a defined type', () => {
  const done = { kind: 'done', message: 'yes' } as const;
  const mistake = new TypeError('a mistake');
  const throwing = (error: Error) =>
    connectorThat(
      () => Promise.reject(error),
      () => Promise.reject(error),
    );

  it('returns the outcome of an action, and the message of a connection test', async () => {
    const connector = connectorThat(
      async () => done,
      async () => 'Well.',
    );
    expect(await connector.execute(CALL, GATE)).toBe(done);
    expect(await connector.test()).toMatchObject({ success: true, message: 'Well.' });
  });

  it('turns a RefusedError into a refused outcome or a failed connection test', async () => {
    const connector = throwing(new RefusedError('no'));
    expect(await connector.execute(CALL, GATE)).toEqual({ kind: 'refused', message: 'no' });
    expect(await connector.test()).toMatchObject({ success: false, message: 'no' });
  });

  it.each([new UnreachableError('away'), new OutcomeUnknownError('cut', 'timeout')])(
    'given the error %p, fails a connection test, but throws the error from an action',
    async (error) => {
      const connector = throwing(error);
      expect(await connector.test()).toMatchObject({ success: false, message: error.message });
      await expect(connector.execute(CALL, GATE)).rejects.toBe(error);
    },
  );

  it('throws any other error', async () => {
    await expect(throwing(mistake).execute(CALL, GATE)).rejects.toBe(mistake);
    await expect(throwing(mistake).test()).rejects.toBe(mistake);
  });

  it('refuses an action type that its connector type does not define', async () => {
    const connector = throwing(mistake);
    const outcome = await connector.execute({ ...CALL, type: 'scan_host' }, GATE);
    expect(outcome).toMatchObject({ kind: 'refused' });
  });

  it('has no method probe if its type cannot query the outcome of any action', () => {
    expect(throwing(mistake)).not.toHaveProperty('probe');
  });
});
