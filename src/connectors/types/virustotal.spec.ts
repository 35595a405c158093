import { describeUsualTroubles } from '../../../test/support/vendors/usual-troubles.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import { VirusTotalServer } from '../../../test/support/vendors/virustotal-server.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { ActionCall } from '../connector-type.js';
import { virusTotal } from './virustotal.js';

const HASH = '44d88612fea8a8f36de82e1278abb02f';

describe('VirusTotalConnector', () => {
  const server = new VirusTotalServer();
  const site = useVendor(virusTotal, server);
  const lookUp = (type: ActionTypeName, parameters: ActionCall['parameters']) =>
    site.execute(callOf(type, parameters));

  beforeEach(() => server.knows('ip_addresses/203.0.113.9', { malicious: 5, suspicious: 1 }));

  it.each<[ActionTypeName, Record<string, unknown>, string]>([
    ['lookup_ip', { ip: '203.0.113.9' }, 'ip_addresses/203.0.113.9'],
    ['lookup_ip', { ip: '2001:db8::1' }, 'ip_addresses/2001:db8::1'],
    ['lookup_domain', { domain: 'evil.example' }, 'domains/evil.example'],
    ['lookup_hash', { hash: HASH.toUpperCase() }, `files/${HASH}`],
    [
      'lookup_url',
      { url: 'https://evil.example/a?b=../c#d' },
      'urls/aHR0cHM6Ly9ldmlsLmV4YW1wbGUvYT9iPS4uL2MjZA',
    ],
  ])(
    'given %s and %j, returns the number of engines for each rating',
    async (type, parameters, place) => {
      const more = { reputation: -7, last_analysis_date: 1_790_000_000 };
      server.knows(place, { malicious: 5, suspicious: 1 }, more);
      expect(await lookUp(type, parameters)).toEqual({
        kind: 'done',
        message: '5 of 74 engines rate it malicious, 1 suspicious.',
        data: {
          known: true,
          malicious: 5,
          suspicious: 1,
          harmless: 60,
          undetected: 8,
          reputation: -7,
          last_analysis_date: '2026-09-21T14:13:20.000Z',
        },
      });
      expect(server.problems).toEqual([]);
    },
  );

  it('does not call a value harmless if VirusTotal has no report about it', async () => {
    expect(await lookUp('lookup_domain', { domain: 'new.example' })).toEqual({
      kind: 'done',
      message: 'VirusTotal has no report. This does not mean that the value is harmless.',
      data: { known: false },
    });
  });

  it('decides by the error code of VirusTotal, not by its message', async () => {
    const error = { code: 'WrongAddressError', message: 'x: NotFoundError' };
    server.play({ status: 404, body: { error } });
    const outcome = await lookUp('lookup_domain', { domain: 'new.example' });
    expect(outcome).toMatchObject({ kind: 'refused' });
  });

  it.each(['../users/me', 'x', `${HASH}0`, `${HASH}/../x`, '', '\ud800'])(
    'rejects %j as a hash without a request',
    async (hash) => {
      expect(await lookUp('lookup_hash', { hash })).toMatchObject({ kind: 'refused' });
      expect(server.calls).toEqual([]);
    },
  );

  it.each(['..', '../users', 'a/b?c#d', '%2e%2e%2fusers'])(
    'does not let the domain %j change the path',
    async (domain) => {
      await lookUp('lookup_domain', { domain });
      expect(server.lines.filter((line) => !line.startsWith('GET /api/v3/domains/'))).toEqual([]);
      expect(server.problems).toEqual([]);
    },
  );

  it('rejects counts that are not numbers, and ignores times that are out of range', async () => {
    server.knows('domains/a.example', { malicious: '5', suspicious: 1 });
    await expect(lookUp('lookup_domain', { domain: 'a.example' })).rejects.toThrow('malicious');
    server.knows(
      'domains/b.example',
      { malicious: 0, suspicious: 0 },
      { last_analysis_date: 1e300 },
    );
    const outcome = await lookUp('lookup_domain', { domain: 'b.example' });
    expect(outcome).toMatchObject({ data: { known: true } });
    expect(outcome).not.toHaveProperty('data.last_analysis_date');
  });

  it('in a connection test, checks the key without a look-up, and never shows the key', async () => {
    expect(await site.connector.test()).toMatchObject({
      success: true,
      message: 'VirusTotal accepts the key.',
    });
    expect(server.answered).toBe(0);
    server.play({ status: 403, body: { error: { code: 'ForbiddenError', message: server.key } } });
    expect(await site.connector.test()).toMatchObject({
      success: false,
      message: 'VirusTotal answered with status 403: ForbiddenError, [secret].',
    });
    expect(await site.connect({ api_key: 'wrong' }).test()).toMatchObject({ success: false });
  });

  it('is checked so rarely that the daily quota remains for look-ups', () => {
    const { checkedEveryMs } = virusTotal;
    expect(86_400_000 / checkedEveryMs!).toBeLessThan(500 / 10);
  });

  describeUsualTroubles('question', () => ({
    ...site,
    call: callOf('lookup_ip', { ip: '203.0.113.9' }),
    effects: () => server.answered,
  }));
});
