import { hex, sameBytes, type SealedPoint, statementMac } from '../chain/audit-chain.js';
import type { AuditKeys } from '../chain/audit-keys.js';

const LINE = /ends at (\d{1,19}) ([0-9a-f]{64}), signed ([0-9a-f]{8}) ([0-9a-f]{64})/;

/** A line of the log that says where the chain ends, signed: whoever has no key cannot make one up. */
export function loggedHead(point: SealedPoint, keys: AuditKeys): string {
  const { id, key } = keys.chain.first;
  const mac = statementMac(key, 'logged-head', fieldsOf(point));
  return `The audit chain ends at ${describe(point)}, signed ${id} ${hex(mac)}.`;
}

export type ReadHead = { readonly point: SealedPoint } | { readonly fault: string };

/** Takes the sentence alone, or the whole line that it stands in. */
export function readLoggedHead(line: string, keys: AuditKeys): ReadHead {
  const [, seq, hash, keyId, mac] = LINE.exec(line) ?? [];
  if (!seq || !hash || !keyId || !mac)
    return { fault: 'It does not say where the audit chain ended' };
  const named = keys.chain.find(keyId);
  if (!named)
    return {
      fault: `Nobody can tell whether the service wrote it: SECRETS_KEY does not hold the key ${keyId} that signed it`,
    };
  const point = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex') };
  const expected = statementMac(named.key, 'logged-head', fieldsOf(point));
  return sameBytes(Buffer.from(mac, 'hex'), expected)
    ? { point }
    : { fault: 'The service did not write it: its signature is of something else' };
}

export function describe({ seq, hash }: SealedPoint): string {
  return `${seq} ${hex(hash)}`;
}

function fieldsOf({ seq, hash }: SealedPoint): string[] {
  return [String(seq), hex(hash)];
}
