import { DefenderServer } from '../../../test/support/vendors/defender-server.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Outcome } from '../connector-type.js';
import { microsoftDefender } from './microsoft-defender.js';

const NAME = 'laptop-7.example.com';
const ACT = 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f';

describe('a connector to Microsoft Defender for Endpoint', () => {
  const server = new DefenderServer();
  const site = useVendor(microsoftDefender, server);
  const { gate, http } = site;
  let host: string;

  beforeEach(() => {
    host = server.addMachine(NAME);
  });

  const call = (type: ActionTypeName, host_id = host, more: object = {}) =>
    callOf(type, { host_id, ...more }, { actionId: ACT });
  const execute = (type: ActionTypeName, hostId = host, more: object = {}) =>
    site.execute(call(type, hostId, more));
  const poll = (outcome: Outcome, type: ActionTypeName): Promise<Outcome> => {
    if (outcome.kind !== 'accepted') throw new Error(outcome.message);
    return site.connector.poll(outcome.handle, call(type));
  };
  const sent = () => server.lines.filter((line) => line.startsWith('POST'));

  it('checks whether the found host is a protected target before it changes anything', async () => {
    const types = ['isolate_host', 'unisolate_host', 'scan_host'] as const;
    await site.expectProtection(
      types.map((type) => call(type)),
      NAME,
    );
    expect(sent()).toEqual([]);
  });

  describe('when it isolates a host', () => {
    it('reports the action as accepted, and polls until the host is isolated', async () => {
      const accepted = await execute('isolate_host', host, { reason: 'It "phones"\r\nhome.' });
      const { id, ...action } = server.actions[0]!;
      expect(accepted).toMatchObject({ kind: 'accepted', handle: { machine_action_id: id } });
      expect(action).toMatchObject({
        scope: 'Full',
        requestorComment: `Incident triage ${ACT}: It "phones"\r\nhome.`,
      });
      server.actions[0]!.status = 'InProgress';
      expect(await poll(accepted, 'isolate_host')).toMatchObject({ kind: 'accepted' });
      server.settle('Succeeded');
      expect(await poll(accepted, 'isolate_host')).toEqual({
        kind: 'done',
        message: 'Defender says: Succeeded.',
        data: { machine_id: host, machine_action_id: id, status: 'Succeeded', changed: true },
      });
      expect(server.lines.slice(0, 3)).toEqual([
        `GET /api/machines/${host}`,
        `GET /api/machineactions?$filter=machineId%20eq%20%27${host}%27&$top=50`,
        `POST /api/machines/${host}/isolate`,
      ]);
    });

    it.each(['Failed', 'TimeOut', 'Cancelled'])(
      'fails if the machine action ends as %s',
      async (end) => {
        const accepted = await execute('isolate_host');
        server.settle(end);
        expect(await poll(accepted, 'isolate_host')).toEqual({
          kind: 'refused',
          message: `Defender says: ${end}.`,
        });
        // A failed isolation does not count, so the connector sends a new request.
        expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted' });
        expect(sent()).toHaveLength(2);
      },
    );

    it('sends nothing if the host is already isolated or about to be isolated', async () => {
      await execute('isolate_host');
      const found = await execute('isolate_host');
      expect(found).toMatchObject({ kind: 'accepted', handle: { changed: false } });
      server.settle('Succeeded');
      const unchanged = { kind: 'done', data: { machine_id: host, changed: false } };
      expect(await poll(found, 'isolate_host')).toMatchObject(unchanged);
      expect(await execute('isolate_host')).toMatchObject(unchanged);
      const undoes = { machine_id: host, changed: false };
      const rollback = { ...call('unisolate_host'), undoes };
      expect(await site.execute(rollback)).toMatchObject({ kind: 'done' });
      expect(sent()).toHaveLength(1);
    });

    it('releases the host, and isolates it again later', async () => {
      for (const type of ['isolate_host', 'unisolate_host', 'isolate_host'] as const) {
        expect(await execute(type)).toMatchObject({ kind: 'accepted' });
        server.settle('Succeeded');
      }
      expect(sent().map((line) => line.split('/').at(-1))).toEqual([
        'isolate',
        'unisolate',
        'isolate',
      ]);
    });

    it('releases a host by its id, even if another host has its name now', async () => {
      server.addMachine('laptop-8.example.com');
      const rollback = { ...call('unisolate_host', 'laptop-8'), undoes: { machine_id: host } };
      expect(await site.execute(rollback)).toMatchObject({ kind: 'accepted' });
      expect(sent()).toEqual([`POST /api/machines/${host}/unisolate`]);
    });

    it('accepts the effect of an attempt that lost its connection', async () => {
      server.play('fine', 'fine', 'drop-after');
      expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted' });
      expect(server.actions).toHaveLength(1);
    });

    it('reports a refusal if another machine action is in progress', async () => {
      await execute('scan_host');
      expect(await execute('isolate_host')).toEqual({
        kind: 'refused',
        message: 'Defender answered with status 400: Action is already in progress.',
      });
    });

    it('resolves the unknown outcome of a broken call', async () => {
      expect(await site.connector.probe!(call('isolate_host'))).toBe('unknown');
      server.play('fine', 'fine', 'drop-after', 'drop', 'drop');
      await expect(execute('isolate_host')).rejects.toThrow(OutcomeUnknownError);
      expect(await site.connector.probe!(call('isolate_host'))).toMatchObject({ kind: 'accepted' });
      server.settle('Failed');
      expect(await site.connector.probe!(call('isolate_host'))).toBe('unknown');
    });

    it.each(['laptop-7', 'LAPTOP-7.example.com'])('finds the host by the name %s', async (name) => {
      expect(await execute('isolate_host', name)).toMatchObject({ kind: 'accepted' });
      expect(sent()).toEqual([`POST /api/machines/${host}/isolate`]);
    });

    it('rejects an unknown host, and an answer about another host', async () => {
      expect(await execute('isolate_host', 'printer-1')).toMatchObject({ kind: 'refused' });
      server.play({ status: 200, body: { id: host, computerDnsName: 'other.example.com' } });
      expect(await execute('isolate_host', 'printer-1')).toMatchObject({ kind: 'refused' });
      const id = "x' or true";
      server.play({ status: 200, body: { id, computerDnsName: 'printer-1' } });
      expect(await execute('isolate_host', 'printer-1')).toMatchObject({ kind: 'refused' });
      expect(sent()).toEqual([]);
    });

    it.each([
      "x' or 1 eq 1",
      '../machineactions',
      '..',
      'a?b',
      'a\r\nb',
      '\0',
      '\ud800',
      '',
      '{{ x }}',
    ])('sends nothing for the host %j', async (hostId) => {
      expect(await execute('isolate_host', hostId)).toMatchObject({ kind: 'refused' });
      expect([server.lines, gate.left]).toEqual([[], 0]);
    });
  });

  describe('when it scans a host', () => {
    it.each([
      ['full', 'Full'],
      ['quick', 'Quick'],
      [undefined, 'Quick'],
    ])(
      'with the scan type %s, reports the action as done when the scan has started',
      async (scan_type, scope) => {
        const accepted = await execute('scan_host', host, { scan_type });
        expect(server.actions).toMatchObject([{ type: 'RunAntiVirusScan', scope }]);
        expect(await poll(accepted, 'scan_host')).toMatchObject({ kind: 'accepted' });
        server.actions[0]!.status = 'InProgress';
        expect(await poll(accepted, 'scan_host')).toMatchObject({ kind: 'done' });
      },
    );

    it('sends the scan once, even if the connection breaks', async () => {
      expect(site.connector.idempotent('scan_host')).toBe(false);
      server.play('fine', 'drop-after');
      await expect(execute('scan_host')).rejects.toThrow(OutcomeUnknownError);
      expect(sent()).toHaveLength(1);
      expect(await site.connector.probe!(call('scan_host'))).toBe('unknown');
    });
  });

  describe('when the vendor fails', () => {
    it('logs in again once after the vendor expires a token early', async () => {
      await site.connector.test();
      server.tokens.expire();
      expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted' });
      expect(server.logins).toBe(2);
    });

    it('reports a refusal without the secret if the vendor rejects the client', async () => {
      site.connect({ client_secret: 'another-secret' });
      const { message } = await execute('isolate_host');
      expect(message).toContain('does not accept the credentials');
      expect(message).not.toContain('another-secret');
    });

    it.each([401, 403, 404, 409])(
      'reports a refusal with the message of the vendor after status %i',
      async (code) => {
        server.play('fine', 'fine', code, code);
        expect(await execute('isolate_host')).toMatchObject({ kind: 'refused' });
        expect(server.actions).toEqual([]);
      },
    );

    it('reports a refusal with the message of the vendor after an error in a successful answer', async () => {
      server.play('fine', 'fine', { status: 201, body: { error: { message: 'No sensor.' } } });
      expect(await execute('isolate_host')).toMatchObject({
        kind: 'refused',
        message: 'Defender answered with status 201: No sensor.',
      });
    });

    it('repeats the request later if the vendor limits the rate', async () => {
      server.retryAfter = '0';
      server.play('fine', 'fine', 429);
      expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted' });
    });

    it.each([500, 'html', 'hang'] as const)(
      'reports an unknown outcome if the change gets this response: %s',
      async (trouble) => {
        http.hasty = true;
        server.play('fine', 'fine', trouble, trouble, trouble);
        await expect(execute('isolate_host')).rejects.toThrow(OutcomeUnknownError);
      },
    );

    it.each([500, 'html', 'drop'] as const)(
      'reports that nothing was sent if a read gets this response: %s',
      async (trouble) => {
        server.play(trouble, trouble, trouble);
        await expect(execute('isolate_host')).rejects.toThrow(UnreachableError);
        expect(sent()).toEqual([]);
      },
    );
  });

  it('sends no change if the kill switch is turned on between the reads and the change', async () => {
    gate.refuseFrom = 3;
    await expect(execute('isolate_host')).rejects.toThrow('the switch is on');
    expect(sent()).toEqual([]);
  });

  it('is tested by a read that requires the permission to read machines', async () => {
    const fine = { success: true, message: 'Defender accepts the credentials.' };
    expect(await site.connector.test()).toMatchObject(fine);
    server.play(403);
    expect(await site.connector.test()).toMatchObject({ success: false });
    expect(gate.left).toBe(0);
  });
});
