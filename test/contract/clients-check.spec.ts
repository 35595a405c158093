import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { allClients, CLIENTS, missingPrograms } from '../../scripts/clients/client.js';
import { missteps, unexpected } from '../../scripts/clients/judgement.js';

const accepted = [
  { line: 'no version of its own', because: 'The generator says it of everybody.' },
];

describe('the check of the clients', () => {
  it('takes an output without warnings', () => {
    expect(
      unexpected('forwards and warns nobody\nCompiling yaml v0.9.34+deprecated\n', []),
    ).toEqual([]);
  });

  it('fails on each warning that is not accepted, in whichever words and colours', () => {
    const output = '\u001b[33mWARN\u001b[39m a\nwarning: b\n3 warnings\nnpm is Deprecated\nfine';
    expect(unexpected(output, [])).toEqual([
      'warns: WARN a',
      'warns: warning: b',
      'warns: 3 warnings',
      'warns: npm is Deprecated',
    ]);
  });

  it('takes a warning that is accepted with a reason, as often as it comes', () => {
    const output = '[main] WARN no version of its own\n[main] WARN no version of its own';
    expect(unexpected(output, accepted)).toEqual([]);
  });

  it('fails on an accepted warning that has no reason or does not come any more', () => {
    expect(unexpected('', accepted)).toEqual(['accepted but not there: no version of its own']);
    expect(unexpected('WARN x', [{ line: 'x', because: '' }])).toEqual([
      'accepted without a reason: x',
    ]);
  });

  it('takes a scenario whose steps are those of all, among whatever else it prints', () => {
    expect(
      missteps('starting\nok key\r\nmade INC-2026-0001\nok create\n', ['key', 'create']),
    ).toEqual([]);
  });

  it('fails on a scenario that leaves out a step, repeats one or takes another order', () => {
    for (const output of ['', 'ok key', 'ok key\nok key\nok create', 'ok create\nok key']) {
      expect(missteps(output, ['key', 'create'])).toHaveLength(1);
    }
  });

  it('names the programs that a client needs and that are not there', () => {
    const [client] = allClients();
    expect(missingPrograms({ ...client!, needs: ['sh', 'no-such-compiler'] })).toEqual([
      'no-such-compiler',
    ]);
  });

  it('has for each client what it takes to make it, pinned', () => {
    const clients = allClients();
    expect(clients.length).toBeGreaterThan(0);
    for (const client of clients) {
      expect(client.generator).toMatch(/\d+\.\d+/);
      expect(client.needs.length).toBeGreaterThan(0);
      expect(client.generate.join('\n')).toContain('$DOCUMENT');
      expect(client.compile.length).toBeGreaterThan(0);
      if (client.shared) expect(existsSync(join(CLIENTS, 'shared', client.shared))).toBe(true);
    }
  });

  it('downloads nothing whose contents are not pinned', () => {
    const pinned = readFileSync(resolve(CLIENTS, 'openapi-generator.json'), 'utf8');
    expect(JSON.parse(pinned)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});
