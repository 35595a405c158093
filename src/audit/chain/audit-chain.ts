import { Injectable } from '@nestjs/common';
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type KeyRing, SecretKeys, type NamedKey } from '../../platform/secrets/secret-box.js';
import type { AuditContent, AuditRow } from '../audit-entry.js';

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

/** Start of the chain, before the first seal. */
export const GENESIS: SealedPoint = { seq: 0n, hash: Buffer.alloc(HASH_BYTES) };

/** A position in the chain: the number of a seal, and its hash. */
export interface SealedPoint {
  readonly seq: bigint;
  readonly hash: Buffer;
}

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
  row: { readonly id: string; readonly mac: Buffer },
): SealedPoint {
  const seq = previous.seq + 1n;
  return { seq, hash: macOf(key, ['seal', hex(previous.hash), String(seq), row.id, hex(row.mac)]) };
}

/** Signs the end of the chain, so that a shortened chain is detected. */
export function headMac(
  key: KeyObject,
  head: SealedPoint,
  progress: readonly (string | null)[],
): Buffer {
  return macOf(key, ['head', String(head.seq), hex(head.hash), ...progress]);
}

/** Signs data outside the database: the anchor file, header and end of an export. */
export function statementMac(key: KeyObject, purpose: string, fields: readonly string[]): Buffer {
  return macOf(key, [purpose, ...fields]);
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Joins the fields as JSON, which is different for different lists of fields. */
export function macOf(key: KeyObject, fields: readonly (string | null)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest();
}

export function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

/** Progress of the sealer, with PostgreSQL snapshots as text. */
export interface Progress {
  /** Database cluster of the snapshots and transaction ids. */
  readonly cluster: string;
  /** All rows that this snapshot sees are sealed. Null: unknown, so every row must be checked. */
  readonly sealedTo: string | null;
  /**
   * The current round seals the rows that this snapshot sees and `sealedTo` does not. Null: there is no current round.
   */
  readonly sealingTo: string | null;
  /** Last row that the current round has checked. */
  readonly after: Cursor | null;
}

/** Position of a row in the order of a round. */
export interface Cursor {
  readonly xid: string;
  readonly id: string;
}

/** The row of audit_chain: the last seal and the progress, signed. */
export interface ChainHead extends SealedPoint, Progress {
  readonly keyId: string;
  readonly mac: Buffer;
}

/** End of the chain, read in one statement. */
export interface ChainEnd {
  readonly head: ChainHead | undefined;
  readonly lastSeal: SealedPoint;
  readonly now: { readonly snapshot: string; readonly cluster: string };
  /** The database was restored into another cluster, where the snapshots of the head are meaningless. */
  readonly restored: boolean;
}

export function signHead({ id, key }: NamedKey, point: SealedPoint, progress: Progress): ChainHead {
  return { ...point, ...progress, keyId: id, mac: headMac(key, point, fieldsOf(progress)) };
}

/** Message if the end of the chain is invalid. Only the service writes it, so a fault means tampering. */
export function faultOfEnd({ head, lastSeal }: ChainEnd, keys: KeyRing): string | undefined {
  if (!head) return lastSeal.seq === GENESIS.seq ? undefined : 'its head was removed';
  const named = keys.find(head.keyId);
  if (!named)
    return `its head is signed with the key ${head.keyId}, which SECRETS_KEY does not hold`;
  if (!sameBytes(head.mac, headMac(named.key, head, fieldsOf(head)))) return 'its head was changed';
  if (head.seq > lastSeal.seq) return 'its last seals were removed';
  if (head.seq < lastSeal.seq) return 'seals were added';
  return sameBytes(head.hash, lastSeal.hash) ? undefined : 'its last seal was changed';
}

function fieldsOf({ cluster, sealedTo, sealingTo, after }: Progress): (string | null)[] {
  return [cluster, sealedTo, sealingTo, after?.xid ?? null, after?.id ?? null];
}

/** Comes before every row. */
export const BEFORE_ALL: Cursor = { xid: '0', id: '00000000-0000-0000-0000-000000000000' };

/** One round of sealing: the rows that the snapshot `to` sees and `from` does not, page by page. */
export interface SealingRound {
  readonly cluster: string;
  readonly from: string | null;
  readonly to: string;
  readonly after: Cursor;
  /** The head must be written even if nothing is left to seal, because it does not show the end of this round yet. */
  readonly unfinished: boolean;
}

/** Continues the current round, or starts one that reaches up to now. */
export function roundAt({ head, now, restored }: ChainEnd): SealingRound {
  const { cluster, snapshot } = now;
  if (!head || restored) {
    return { cluster, from: null, to: snapshot, after: BEFORE_ALL, unfinished: restored };
  }
  if (head.sealingTo === null) {
    return { cluster, from: head.sealedTo, to: snapshot, after: BEFORE_ALL, unfinished: false };
  }
  return {
    cluster,
    from: head.sealedTo,
    to: head.sealingTo,
    after: head.after ?? BEFORE_ALL,
    unfinished: true,
  };
}

/** Progress after a page. `last` is the last row of the page; `undefined` if the round is over. */
export function progressAfter(round: SealingRound, last: Cursor | undefined): Progress {
  const { cluster, from, to } = round;
  return last
    ? { cluster, sealedTo: from, sealingTo: to, after: { xid: last.xid, id: last.id } }
    : { cluster, sealedTo: to, sealingTo: null, after: null };
}
