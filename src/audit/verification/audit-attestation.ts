import type { KeyObject } from 'node:crypto';
import type { KeyRing } from '../../platform/secrets/secret-box.js';
import {
  hex,
  HASH_BYTES,
  macOf,
  rowMac,
  sameBytes,
  type SealedPoint,
} from '../chain/audit-chain.js';
import type { AuditAttestationEntity } from '../audit.entity.js';
import type { AuditRow } from '../audit-entry.js';

/** Placeholder for a seal that is not attested. */
export const NOT_ATTESTED = Buffer.alloc(HASH_BYTES);

interface AttestedSeal {
  readonly seq: bigint;
  readonly hash: Buffer;
  readonly keyId: string;
}

/** Attestation of one seal, and the key that signed it. */
export interface SealAttestation {
  readonly keyId: string;
  readonly mac: Buffer;
}

/** Signs a seal, its row and the previous seal as they are now. The keys of row and seal are not needed after that. */
export function attestationMac(
  key: KeyObject,
  previous: SealedPoint,
  seal: AttestedSeal,
  row: AuditRow,
): Buffer {
  return macOf(key, [
    'attestation',
    hex(previous.hash),
    String(seal.seq),
    hex(seal.hash),
    seal.keyId,
    row.key_id,
    hex(row.mac),
    hex(rowMac(key, row)),
  ]);
}

function macFor({ first_seq, macs }: AuditAttestationEntity, seq: bigint): Buffer | undefined {
  const at = Number(seq - first_seq) * HASH_BYTES;
  const mac = at < 0 ? NOT_ATTESTED : macs.subarray(at, at + HASH_BYTES);
  return mac.length < HASH_BYTES || mac.equals(NOT_ATTESTED) ? undefined : mac;
}

/** Attestation of the seal by a key of SECRETS_KEY. */
export function attestationOf(
  attestations: readonly AuditAttestationEntity[],
  seq: bigint,
  keys: KeyRing,
): SealAttestation | undefined {
  for (const attestation of attestations) {
    const mac = keys.find(attestation.key_id) && macFor(attestation, seq);
    if (mac) return { keyId: attestation.key_id, mac };
  }
  return undefined;
}

/** Whether seal and row are as they were attested. */
export function isAttested(
  { keyId, mac }: SealAttestation,
  keys: KeyRing,
  previous: SealedPoint,
  seal: AttestedSeal,
  row: AuditRow,
): boolean {
  const named = keys.find(keyId);
  return named !== undefined && sameBytes(mac, attestationMac(named.key, previous, seal, row));
}
