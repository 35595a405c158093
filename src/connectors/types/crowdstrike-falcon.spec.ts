import { FalconServer } from '../../../test/support/vendors/falcon-server.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { crowdstrikeFalcon } from './crowdstrike-falcon.js';

const ACT = 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f';
const DETAILS = 'POST /devices/entities/devices/v2';
const CONTAIN = 'POST /devices/entities/devices-actions/v2?action_name=contain';

describe('a connector to CrowdStrike Falcon', () => {
  const server = new FalconServer();
  const site = useVendor(crowdstrikeFalcon, server);
  const { gate, http } = site;
  let host: string;

  beforeEach(() => {
    host = server.addHost('LAPTOP-7');
  });

  const call = (type: ActionTypeName, host_id: string, more: object = {}) =>
    callOf(type, { host_id, ...more }, { actionId: ACT });
  const execute = (type: ActionTypeName, hostId = host, more: object = {}) =>
    site.execute(call(type, hostId, more));
  const status = (value: string) => (server.hosts.get(host)!.status = value);

  it('checks whether the found host is a protected target before it changes anything', async () => {
    const types = ['isolate_host', 'unisolate_host', 'scan_host'] as const;
    await site.expectProtection(
      types.map((type) => call(type, host)),
      'LAPTOP-7',
    );
    expect(server.lines).toEqual([DETAILS, DETAILS, DETAILS]);
  });

  describe('when it contains a host', () => {
    it('reports the action as accepted, and polls until the host is contained', async () => {
      const accepted = await execute('isolate_host');
      if (accepted.kind !== 'accepted') throw new Error(accepted.message);
      expect(accepted.handle).toEqual({ device_id: host, changed: true });
      expect(server.lines).toEqual([DETAILS, CONTAIN]);
      const isolate = call('isolate_host', host);
      const pending = await site.connector.poll(accepted.handle, isolate);
      const handle = { device_id: host, changed: true };
      expect(pending).toMatchObject({ kind: 'accepted', handle });
      server.settle('contained');
      expect(await site.connector.poll(handle, isolate)).toEqual({
        kind: 'done',
        message: 'The host is contained.',
        data: { device_id: host, status: 'contained', changed: true },
      });
      expect(gate.left).toBe(2);
    });

    it('lifts a containment in the same way', async () => {
      status('contained');
      expect(await execute('unisolate_host')).toMatchObject({ kind: 'accepted' });
      server.settle('normal');
      const handle = { device_id: host };
      const lifted = await site.connector.poll(handle, call('unisolate_host', host));
      expect(lifted).toMatchObject({ kind: 'done', data: { status: 'normal' } });
    });

    it('lifts the containment by the id of the host, even if another host has its name now', async () => {
      status('contained');
      server.addHost('LAPTOP-8', 'contained');
      const rollback = { ...call('unisolate_host', 'LAPTOP-8'), undoes: { device_id: host } };
      expect(await site.execute(rollback)).toMatchObject({
        kind: 'accepted',
        handle: { device_id: host },
      });
    });

    it('continues to wait while the vendor shows the old status', async () => {
      const handle = { device_id: host };
      const polled = await site.connector.poll(handle, call('isolate_host', host));
      expect(polled).toMatchObject({ kind: 'accepted', handle });
    });

    it.each([
      ['contained', { kind: 'done', data: { changed: false } }],
      ['containment_pending', { kind: 'accepted', handle: { changed: false } }],
    ])(
      'sends nothing if the host is already %s, and reports that nothing changed',
      async (present, outcome) => {
        status(present);
        expect(await execute('isolate_host')).toMatchObject(outcome);
        expect(server.lines).toEqual([DETAILS]);
      },
    );

    it('does not report that nothing changed if an earlier attempt may have contained the host', async () => {
      status('contained');
      const again = { ...call('isolate_host', host), attempt: 2 };
      expect(await site.execute(again)).toEqual({
        kind: 'done',
        message: 'The host is contained.',
        data: { device_id: host, status: 'contained' },
      });
    });

    it('in a rollback, keeps the containment of a host that was contained before the action', async () => {
      status('contained');
      const undoes = { device_id: host, changed: false };
      const rollback = { ...call('unisolate_host', host), undoes };
      expect(await site.execute(rollback)).toMatchObject({ kind: 'done' });
      expect(server.lines).toEqual([]);
    });

    it('after a conflict, succeeds if the host is contained already, and otherwise reports a refusal', async () => {
      server.play('fine', 409);
      expect(await execute('isolate_host')).toMatchObject({
        kind: 'refused',
        message: 'Falcon answered with status 409: says 409.',
      });
      const details = { resources: [{ device_id: host, status: 'normal' }] };
      status('contained');
      server.play({ status: 200, body: details });
      expect(await execute('isolate_host')).toMatchObject({ kind: 'done' });
    });

    it.each([
      ['contained', 'done'],
      ['containment_pending', 'accepted'],
    ])('resolves the unknown outcome of a broken call if the host is %s', async (present, kind) => {
      server.play('fine', 'drop-after', 'drop-after', 'drop-after');
      await expect(execute('isolate_host')).rejects.toThrow(OutcomeUnknownError);
      status(present);
      expect(await site.connector.probe!(call('isolate_host', host))).toMatchObject({ kind });
    });

    it('repeats the request after a broken connection, and accepts the effect of the first attempt', async () => {
      server.play('fine', 'drop-after');
      const handle = { device_id: host };
      expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted', handle });
      expect(server.lines).toEqual([DETAILS, CONTAIN, CONTAIN, DETAILS]);
    });

    it('leaves the outcome of a broken call unknown while the host is unchanged', async () => {
      expect(await site.connector.probe!(call('isolate_host', host))).toBe('unknown');
    });

    it('finds a host by name, ignoring upper and lower case, and then uses the id of the host', async () => {
      const accepted = await execute('isolate_host', 'laptop-7');
      expect(accepted).toMatchObject({ kind: 'accepted', handle: { device_id: host } });
      expect(server.lines[0]).toBe(
        'GET /devices/queries/devices/v1?filter=hostname%3A%27laptop-7%27&limit=2',
      );
    });

    it.each([
      ['with another name that begins alike', 'laptop'],
      ['with an unknown name', 'printer-1'],
      ['with an unknown id', 'f'.repeat(32)],
    ])('rejects a host %s', async (_, hostId) => {
      expect(await execute('isolate_host', hostId)).toEqual({
        kind: 'refused',
        message: 'Falcon knows no such host.',
      });
      expect(server.lines).not.toContain(CONTAIN);
    });

    it('rejects a name that two hosts have', async () => {
      server.addHost('laptop-7');
      expect(await execute('isolate_host', 'LAPTOP-7')).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('Several hosts'),
      });
    });

    it.each([
      "x'+status:'normal",
      "laptop-7'",
      '*',
      '../oauth2',
      'a?b=c',
      'a&limit=5000',
      'line\r\nbreak',
      '\0',
      '\ud800',
      '{{ secrets.x }}',
      'x'.repeat(10_000),
      '',
    ])('sends nothing for the host %j', async (hostId) => {
      expect(await execute('isolate_host', hostId)).toMatchObject({ kind: 'refused' });
      expect(server.lines).toEqual([]);
      expect(gate.left).toBe(0);
    });
  });

  describe('when it scans a host', () => {
    it.each([
      ['quick', ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*']],
      ['full', ['*']],
      [undefined, ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*']],
    ])(
      'with the scan type %s, reports the action as done when the scan has started',
      async (scan_type, file_paths) => {
        const accepted = await execute('scan_host', host, { scan_type });
        if (accepted.kind !== 'accepted') throw new Error(accepted.message);
        const [[id, scan]] = [...server.scans] as [[string, { request: object; status: string }]];
        expect(scan.request).toMatchObject({ hosts: [host], file_paths, quarantine: false });
        const ask = () => site.connector.poll(accepted.handle, call('scan_host', host));
        expect(await ask()).toMatchObject({ kind: 'accepted', handle: { scan_id: id } });
        scan.status = 'running';
        expect(await ask()).toMatchObject({ kind: 'done', data: { scan_id: id } });
      },
    );

    it.each(['failed', 'canceled'])('fails if the scan is %s', async (end) => {
      const accepted = await execute('scan_host');
      if (accepted.kind !== 'accepted') throw new Error(accepted.message);
      for (const scan of server.scans.values()) scan.status = end;
      expect(await site.connector.poll(accepted.handle, call('scan_host', host))).toEqual({
        kind: 'refused',
        message: `The scan is ${end} at Falcon.`,
      });
    });

    it('sends the scan once, even if the connection breaks', async () => {
      expect(site.connector.idempotent('scan_host')).toBe(false);
      server.play('fine', 'drop-after');
      await expect(execute('scan_host')).rejects.toThrow(OutcomeUnknownError);
      expect(server.scans.size).toBe(1);
      expect(await site.connector.probe!(call('scan_host', host))).toBe('unknown');
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
      const refused = { kind: 'refused', message: expect.stringContaining('does not accept') };
      expect(await execute('isolate_host')).toMatchObject(refused);
      const test = await site.connector.test();
      expect(test.success).toBe(false);
      expect(test.message).not.toContain('another-secret');
    });

    it.each([400, 401, 403, 404])(
      'reports a refusal with the message of the vendor after status %i',
      async (code) => {
        server.play('fine', code, code);
        expect(await execute('isolate_host')).toMatchObject({ kind: 'refused' });
        expect(server.hosts.get(host)!.status).toBe('normal');
      },
    );

    it('reports a refusal with the message of the vendor after an error in a successful answer', async () => {
      const errors = [{ code: 400, message: 'No such sensor.' }, { code: 1 }];
      server.play('fine', { status: 202, body: { meta: {}, errors, resources: [] } });
      expect(await execute('isolate_host')).toEqual({
        kind: 'refused',
        message: 'Falcon answered with status 202: No such sensor.',
      });
    });

    it('repeats the request later if the vendor limits the rate', async () => {
      server.retryAfter = '0';
      server.play('fine', 429);
      expect(await execute('isolate_host')).toMatchObject({ kind: 'accepted' });
      server.retryAfter = '60';
      server.play(429);
      expect(await execute('isolate_host')).toMatchObject({ kind: 'refused' });
    });

    it.each([500, 'html', 'drop-after', 'hang'] as const)(
      'reports an unknown outcome if the change gets this response: %s',
      async (trouble) => {
        http.hasty = true;
        server.play('fine', trouble, trouble, trouble);
        await expect(execute('isolate_host')).rejects.toThrow(OutcomeUnknownError);
      },
    );

    it.each([500, 'html', 'drop'] as const)(
      'reports that nothing was sent if a read gets this response: %s',
      async (trouble) => {
        server.play(trouble, trouble, trouble);
        await expect(execute('isolate_host')).rejects.toThrow(UnreachableError);
        expect(server.lines).not.toContain(CONTAIN);
      },
    );

    it.each([
      ['no device', { resources: [{ hostname: 'x' }] }],
      ['another device', { resources: [{ device_id: 'x', status: 'contained' }] }],
      ['no list', { resources: { __proto__: [] } }],
      ['nothing', undefined],
    ])('contains no host if a read returns %s', async (_, body) => {
      server.play({ status: 200, body });
      await execute('isolate_host').catch(() => undefined);
      expect(server.lines).toEqual([DETAILS]);
    });
  });

  it('sends no change if the kill switch is turned on between the read and the change', async () => {
    gate.refuseFrom = 2;
    await expect(execute('isolate_host')).rejects.toThrow('the switch is on');
    expect(server.lines).toEqual([DETAILS]);
  });

  it('is tested by a read that requires the permission to read hosts', async () => {
    const fine = { success: true, message: 'Falcon accepts the credentials.' };
    expect(await site.connector.test()).toMatchObject(fine);
    server.play(403);
    expect(await site.connector.test()).toMatchObject({ success: false });
    expect(gate.left).toBe(0);
  });
});
