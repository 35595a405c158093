import type { KeyObject } from 'node:crypto';
import { hex, HASH_BYTES, macOf, rowMac, type SealedPoint } from './audit-chain.js';
import type { AuditRow } from './audit-entry.js';

/** What a later key says about a range of seals: one MAC for each, in their order. */
export interface Attestation {
  readonly firstSeq: bigint;
  readonly macs: Buffer;
  readonly keyId: string;
}

/** Verified with the keys of that time, or taken as it was found because its key was lost. */
export type Attested = 'genuine' | 'taken_over';

export const NOT_ATTESTED = Buffer.alloc(HASH_BYTES);

/**
 * Vouches for a seal, its row and the seal before, all as they stand there, so that neither the key of the row nor that of
 * the seal is needed any more.
 */
export function attestationMac(
  key: KeyObject,
  how: Attested,
  previous: SealedPoint,
  seal: { readonly seq: bigint; readonly hash: Buffer; readonly keyId: string },
  row: AuditRow,
): Buffer {
  return macOf(key, [
    'attestation',
    how,
    hex(previous.hash),
    String(seal.seq),
    hex(seal.hash),
    seal.keyId,
    row.key_id,
    hex(row.mac),
    hex(rowMac(key, row)),
  ]);
}

export function macFor({ firstSeq, macs }: Attestation, seq: bigint): Buffer | undefined {
  const at = Number(seq - firstSeq) * HASH_BYTES;
  const mac = at < 0 ? NOT_ATTESTED : macs.subarray(at, at + HASH_BYTES);
  return mac.length < HASH_BYTES || mac.equals(NOT_ATTESTED) ? undefined : mac;
}
