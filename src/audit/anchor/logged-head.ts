import type { EntityManager } from 'typeorm';
import { hex, sameBytes, type SealedPoint, statementMac } from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import type { AuditKeys } from '../chain/audit-keys.js';

const LINE = /ends at (\d{1,19}) ([0-9a-f]{64}), signed ([0-9a-f]{8}) ([0-9a-f]{64})/;

/** A line for the log that says where the chain ends. It is signed, so nobody can make one up without the key. */
export function loggedHead(point: SealedPoint, keys: AuditKeys): string {
  const { id, key } = keys.chain.first;
  const mac = statementMac(key, 'logged-head', fieldsOf(point));
  return `The audit chain ends at ${describe(point)}, signed ${id} ${hex(mac)}.`;
}

/** In words, why the line proves nothing, or that the trail was changed since; undefined when the trail agrees with it. */
export async function faultOfLine(
  manager: EntityManager,
  keys: AuditKeys,
  line: string,
): Promise<string | undefined> {
  const read = readLoggedHead(line, keys);
  if ('fault' in read) return `${read.fault}.`;
  if (await new AuditChainRepository().leadsThrough(manager, read.point)) return undefined;
  return `The service wrote this line, and the audit trail does not lead through seal ${read.point.seq} as it was then: it was put back or made anew since.`;
}

type ReadHead = { readonly point: SealedPoint } | { readonly fault: string };

/** Reads the sentence alone, or the whole line of the log that holds it. */
function readLoggedHead(line: string, keys: AuditKeys): ReadHead {
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
