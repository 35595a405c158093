import type { Connector, Outcome } from '../../../src/connectors/connector-type.js';
import type { ActionCall } from '../../../src/connectors/connector-type.js';
import { OutcomeUnknownError, UnreachableError } from '../../../src/platform/net/net.errors.js';
import type { VendorServer } from './vendor-server.js';
import { CountingGate, type SiteHttp } from './vendor-site.js';

interface Subject {
  readonly server: VendorServer;
  readonly http: SiteHttp;
  readonly connector: Connector;
  readonly call: ActionCall;
  /** Number of effects at the vendor, regardless of its responses. */
  readonly effects: () => number;
}

/** Defines tests for every adapter: its behaviour when its vendor or the network fails. */
export function describeUsualTroubles(kind: 'change' | 'question', subject: () => Subject): void {
  const execute = (gate = new CountingGate()): Promise<Outcome> =>
    subject().connector.execute(subject().call, gate);
  /** A read changes nothing, so its outcome is never unknown. */
  const unclear = kind === 'change' ? OutcomeUnknownError : UnreachableError;

  it.each([400, 401, 403, 404, 409, 422])(
    'fails with the message of the vendor after status %i',
    async (status) => {
      subject().server.play(status);
      const outcome = await execute();
      expect(outcome).toMatchObject({ kind: 'refused' });
      expect(outcome.message).toContain(`says ${status}`);
      expect(subject().effects()).toBe(0);
    },
  );

  it('waits and retries if the vendor throttles the request', async () => {
    subject().server.play(429);
    const gate = new CountingGate();
    expect(await execute(gate)).toMatchObject({ kind: 'done' });
    expect([gate.left, subject().effects()]).toEqual([2, 1]);
  });

  it('fails if the vendor requires a longer wait than an action allows', async () => {
    subject().server.retryAfter = '3600';
    subject().server.play(429);
    expect(await execute()).toMatchObject({ kind: 'refused' });
  });

  it('has an unknown outcome or no effect after status 500', async () => {
    subject().server.play(500, 500, 500);
    await expect(execute()).rejects.toThrow(unclear);
    expect(subject().effects()).toBe(0);
  });

  it('does not accept HTML as a response', async () => {
    subject().server.play('html', 'html', 'html');
    await expect(execute()).rejects.toThrow('something other than JSON');
    subject().server.play('html', 'html', 'html');
    await expect(execute()).rejects.toThrow(unclear);
  });

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['null', null],
    ['a list', []],
    ['a text', 'ok'],
  ])('does not accept %s as a response', async (_, body) => {
    const reply = { status: 200, body };
    subject().server.play(reply, reply, reply);
    await expect(execute()).rejects.toThrow(unclear);
  });

  it('does not follow redirects', async () => {
    const headers = { location: 'http://169.254.169.254/latest/meta-data/' };
    subject().server.play({ status: 302, headers });
    expect(await execute()).toMatchObject({ kind: 'refused' });
  });

  it('does not repeat a request with a second effect after a lost connection', async () => {
    subject().server.play('drop-after');
    if (kind === 'change') {
      await expect(execute()).rejects.toThrow(OutcomeUnknownError);
      expect(subject().effects()).toBe(1);
    } else {
      expect(await execute()).toMatchObject({ kind: 'done' });
    }
  });

  it('fails if the vendor never responds', async () => {
    subject().http.hasty = true;
    subject().server.play('hang', 'hang', 'hang');
    await expect(execute()).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('sends no request that the gate rejects', async () => {
    const gate = new CountingGate();
    gate.refuseFrom = 1;
    await expect(execute(gate)).rejects.toThrow('the switch is on');
    expect(subject().effects()).toBe(0);
    expect(subject().server.lines).toEqual([]);
  });
}
