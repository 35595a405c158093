import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '../../platform/secrets/secret-keys.js';
import type { AuditContent, AuditRow } from '../audit-entry.js';

export const HASH_BYTES = 32;

/** What the first seal follows. */
export const GENESIS: SealedPoint = { seq: 0n, hash: Buffer.alloc(HASH_BYTES) };

/** A place in the chain: the number of a seal, and its hash. */
export interface SealedPoint {
  readonly seq: bigint;
  readonly hash: Buffer;
}

/** Proves that the service wrote the row as it is: nobody can compute it without the key. */
export function rowMac(key: KeyObject, row: AuditContent): Buffer {
  const { writer, written } = row;
  return macOf(key, [
    'row',
    row.id,
    row.at.toISOString(),
    row.actor,
    row.action,
    row.subject_type,
    row.subject_id,
    row.details,
    // Rows from before writers were named keep the MAC that they have.
    ...(writer === null && written === null ? [] : [writer, written]),
  ]);
}

/** Whether the row is as the service wrote it. */
export function isGenuine(row: AuditRow, keys: KeyRing): boolean {
  const named = keys.find(row.key_id);
  return named !== undefined && sameBytes(row.mac, rowMac(named.key, row));
}

/** The next seal of the chain. It covers the row through the row's MAC, so sealing does not have to read the whole row. */
export function nextSeal(
  key: KeyObject,
  previous: SealedPoint,
  row: { readonly id: string; readonly mac: Buffer },
): SealedPoint {
  const seq = previous.seq + 1n;
  return { seq, hash: macOf(key, ['seal', hex(previous.hash), String(seq), row.id, hex(row.mac)]) };
}

/** Signs the end of the chain, so that a shortened chain is not taken for a whole one. */
export function headMac(
  key: KeyObject,
  head: SealedPoint,
  progress: readonly (string | null)[],
): Buffer {
  return macOf(key, ['head', String(head.seq), hex(head.hash), ...progress]);
}

/** Signs what the service says outside its database: a head in the log or a file, header and end of an export. */
export function statementMac(key: KeyObject, purpose: string, fields: readonly string[]): Buffer {
  return macOf(key, [purpose, ...fields]);
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The fields are joined as JSON, in which no two different lists of fields look the same. */
export function macOf(key: KeyObject, fields: readonly (string | null)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest();
}

export function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}
