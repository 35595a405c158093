import { createSecretKey } from 'node:crypto';
import { GENESIS, nextSeal, rowMac, signHead } from './audit-chain.js';

const key = createSecretKey(Buffer.alloc(32, 1));
const other = createSecretKey(Buffer.alloc(32, 2));
const row = {
  id: '01890000-0000-7000-8000-000000000001',
  at: new Date('2026-03-01T09:30:00.000Z'),
  actor: 'alice',
  action: 'incident.created',
  subject_type: 'incident',
  subject_id: 'i-1',
  details: '{"severity":"high"}',
};
const progress = { cluster: '7', sealed_to: '10:12:11' };
const hex = (bytes: Buffer): string => bytes.toString('hex');

describe('the hashes of the audit chain', () => {
  it('are the same in every release, so that stored chains stay verifiable', () => {
    const mac = rowMac(key, row);
    const seal = nextSeal(key, GENESIS, { id: row.id, mac });
    expect(seal.seq).toBe(1n);
    expect([
      hex(mac),
      hex(seal.hash),
      hex(signHead({ id: 'first', key }, seal, progress).mac),
    ]).toEqual([
      '46a05f78991d6cc9cd7b46242c6619057f69cfd5e1eec5feffbc4881f6672fc2',
      'e7245c02fa85453515ee642b5d0ef83395763dc00457cc87c127937c136f866a',
      '8747a76866967b660bde8ae81b2b9b1181e852328794e5c9dc910359fa6a39e1',
    ]);
  });

  it.each([
    { id: row.id.replace('1', '2') },
    { at: new Date('2026-03-01T09:30:00.001Z') },
    { actor: 'bob' },
    { action: 'incident.updated' },
    { subject_type: 'user' },
    { subject_id: 'i-2' },
    { details: '{"severity": "high"}' },
    { actor: 'alice","incident.created', action: '' },
  ])('change if a row has %j', (change) => {
    expect(hex(rowMac(key, { ...row, ...change }))).not.toBe(hex(rowMac(key, row)));
  });

  it('depend on the key, the position and all previous hashes', () => {
    const sealed = { id: row.id, mac: rowMac(key, row) };
    const first = nextSeal(key, GENESIS, sealed);
    const hashes = [
      rowMac(key, row),
      rowMac(other, row),
      first.hash,
      nextSeal(other, GENESIS, sealed).hash,
      nextSeal(key, first, sealed).hash,
      nextSeal(key, { ...GENESIS, seq: 1n }, sealed).hash,
      nextSeal(key, GENESIS, { ...sealed, mac: rowMac(other, row) }).hash,
      signHead({ id: 'k', key }, first, progress).mac,
      signHead({ id: 'k', key }, first, { ...progress, sealed_to: null }).mac,
      signHead({ id: 'k', key }, first, { ...progress, sealed_to: '' }).mac,
      signHead({ id: 'k', key }, GENESIS, progress).mac,
      signHead({ id: 'k', key: other }, first, progress).mac,
    ];
    expect(new Set(hashes.map(hex)).size).toBe(hashes.length);
  });
});
