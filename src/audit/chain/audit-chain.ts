import { Injectable } from '@nestjs/common';
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type KeyRing, type NamedKey, SecretKeys } from '../../platform/secrets/secret-box.js';
import type { AuditContent, AuditRow } from '../audit-entry.js';
import type { AuditAttestationEntity, AuditChainEntity, AuditSealEntity } from '../audit.entity.js';

/** Keys of the audit trail, derived from SECRETS_KEY. Rows, seals and attestations have different keys. */
@Injectable()
export class AuditKeys {
  readonly rows: KeyRing;
  readonly chain: KeyRing;
  /** Sign attestations of seals by later keys. */
  readonly attestations: KeyRing;

  constructor(keys: SecretKeys) {
    this.rows = keys.derive('audit-row');
    this.chain = keys.derive('audit-chain');
    this.attestations = keys.derive('audit-attestation');
  }
}

export const HASH_BYTES = 32;

/** A position in the chain: the number of a seal, and its hash. */
export type SealedPoint = Pick<AuditSealEntity, 'seq' | 'hash'>;

/** Start of the chain, before the first seal. */
export const GENESIS: SealedPoint = { seq: 0n, hash: Buffer.alloc(HASH_BYTES) };

/** Proves that the service wrote the row: the MAC requires the key. */
export function rowMac(key: KeyObject, row: AuditContent): Buffer {
  return macOf(key, [
    'row',
    row.id,
    row.at.toISOString(),
    row.actor,
    row.action,
    row.subject_type,
    row.subject_id,
    row.details,
  ]);
}

/** Whether the service wrote the row as it is. */
export function isGenuine(row: AuditRow, keys: KeyRing): boolean {
  const named = keys.find(row.key_id);
  return named !== undefined && sameBytes(row.mac, rowMac(named.key, row));
}

/** The next seal. It covers the row through the MAC of the row, so the sealer need not read the whole row. */
export function nextSeal(
  key: KeyObject,
  previous: SealedPoint,
  row: Pick<AuditRow, 'id' | 'mac'>,
): SealedPoint {
  const seq = previous.seq + 1n;
  return { seq, hash: macOf(key, ['seal', hex(previous.hash), String(seq), row.id, hex(row.mac)]) };
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The first field is the purpose of the MAC. JSON joins the fields, so different lists have different texts. */
export function macOf(key: KeyObject, fields: readonly (string | null)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest();
}

export function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

/**
 * Progress of the sealer, with PostgreSQL snapshots as text. All rows that `sealed_to` sees are sealed; null: unknown, so
 * every row must be checked. The current round seals the rows that `sealing_to` sees and `sealed_to` does not; null: there
 * is no current round. `after_xid` and `after_id` are the last row that the round has checked.
 */
export type Progress = Pick<
  AuditChainEntity,
  'cluster' | 'sealed_to' | 'sealing_to' | 'after_xid' | 'after_id'
>;

/** Position of a row in the order of a round. */
export interface Cursor {
  readonly xid: string;
  readonly id: string;
}

/** The row of audit_chain: the last seal and the progress, signed. */
export type ChainHead = Omit<AuditChainEntity, 'only_row' | 'found_invalid_at'>;

/** End of the chain, read in one statement. */
export interface ChainEnd {
  readonly head: ChainHead | undefined;
  readonly lastSeal: SealedPoint;
  readonly now: { readonly snapshot: string; readonly cluster: string };
  /** The database was restored into another cluster, where the snapshots of the head are meaningless. */
  readonly restored: boolean;
}

export function signHead({ id, key }: NamedKey, point: SealedPoint, progress: Progress): ChainHead {
  const { seq, hash } = point;
  const { cluster, sealed_to, sealing_to, after_xid, after_id } = progress;
  const fields = [cluster, sealed_to, sealing_to, after_xid, after_id];
  const mac = macOf(key, ['head', String(seq), hex(hash), ...fields]);
  return { seq, hash, cluster, sealed_to, sealing_to, after_xid, after_id, key_id: id, mac };
}

/** Message if the end of the chain is invalid. Only the service writes it, so a fault means tampering. */
export function faultOfEnd({ head, lastSeal }: ChainEnd, keys: KeyRing): string | undefined {
  if (!head) return lastSeal.seq === GENESIS.seq ? undefined : 'its head was removed';
  const named = keys.find(head.key_id);
  if (!named) {
    return `its head is signed with the key ${head.key_id}, which SECRETS_KEY does not hold`;
  }
  if (!sameBytes(head.mac, signHead(named, head, head).mac)) return 'its head was changed';
  if (head.seq > lastSeal.seq) return 'its last seals were removed';
  if (head.seq < lastSeal.seq) return 'seals were added';
  return sameBytes(head.hash, lastSeal.hash) ? undefined : 'its last seal was changed';
}

/** Comes before every row. */
export const BEFORE_ALL: Cursor = { xid: '0', id: '00000000-0000-0000-0000-000000000000' };

/** Continues the current round, or starts one that reaches up to now. */
export function roundAt({ head, now, restored }: ChainEnd): Progress {
  const known = restored ? undefined : head;
  if (known && known.sealing_to !== null) return known;
  return {
    cluster: now.cluster,
    sealed_to: known?.sealed_to ?? null,
    sealing_to: now.snapshot,
    after_xid: BEFORE_ALL.xid,
    after_id: BEFORE_ALL.id,
  };
}

/** Progress after a page. `last` is the last row of the page; `undefined` if the round is over. */
export function progressAfter(round: Progress, last?: Cursor): Progress {
  if (last) return { ...round, after_xid: last.xid, after_id: last.id };
  const { cluster, sealing_to: sealed_to } = round;
  return { cluster, sealed_to, sealing_to: null, after_xid: null, after_id: null };
}

type AttestedSeal = Pick<AuditSealEntity, 'seq' | 'hash' | 'key_id'>;

/** Attestation of one seal, and the key that signed it. */
export type SealAttestation = Pick<AuditSealEntity, 'key_id'> & { readonly mac: Buffer };

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
    seal.key_id,
    row.key_id,
    hex(row.mac),
    hex(rowMac(key, row)),
  ]);
}

/** Attestation of the seal by a key of SECRETS_KEY. */
export function attestationOf(
  attestations: readonly AuditAttestationEntity[],
  seq: bigint,
  keys: KeyRing,
): SealAttestation | undefined {
  for (const { key_id, first_seq, macs } of attestations) {
    const at = Number(seq - first_seq) * HASH_BYTES;
    if (at < 0 || at >= macs.length || !keys.find(key_id)) continue;
    return { key_id, mac: macs.subarray(at, at + HASH_BYTES) };
  }
  return undefined;
}

/** Whether seal and row are as they were attested. */
export function isAttested(
  { key_id, mac }: SealAttestation,
  keys: KeyRing,
  previous: SealedPoint,
  seal: AttestedSeal,
  row: AuditRow,
): boolean {
  const named = keys.find(key_id);
  return named !== undefined && sameBytes(mac, attestationMac(named.key, previous, seal, row));
}
