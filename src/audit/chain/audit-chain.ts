import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '../../platform/secrets/secret-keys.js';
import type { AuditContent, AuditRow } from '../audit-entry.js';

export const HASH_BYTES = 32;

/** Where a chain begins. */
export const GENESIS: SealedPoint = { seq: 0n, hash: Buffer.alloc(HASH_BYTES) };

export interface SealedPoint {
  readonly seq: bigint;
  readonly hash: Buffer;
}

/** Vouches for one row on its own: whoever writes a row without the key cannot make it. */
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
    // Rows of before there were writers keep the MAC that they have.
    ...(writer === null && written === null ? [] : [writer, written]),
  ]);
}

/** The row is as the service wrote it. */
export function isGenuine(row: AuditRow, keys: KeyRing): boolean {
  const named = keys.find(row.key_id);
  return named !== undefined && sameBytes(row.mac, rowMac(named.key, row));
}

/** The next link. It covers the row through its MAC, so that sealing reads neither the row's words nor its size. */
export function nextSeal(
  key: KeyObject,
  previous: SealedPoint,
  row: { readonly id: string; readonly mac: Buffer },
): SealedPoint {
  const seq = previous.seq + 1n;
  return { seq, hash: macOf(key, ['seal', hex(previous.hash), String(seq), row.id, hex(row.mac)]) };
}

/** Vouches for the end of the chain, so that a shortened one does not pass for a whole one. */
export function headMac(
  key: KeyObject,
  head: SealedPoint,
  progress: readonly (string | null)[],
): Buffer {
  return macOf(key, ['head', String(head.seq), hex(head.hash), ...progress]);
}

/** Vouches for what the service says outside its database: a head in the log or a file, the frame of an export. */
export function statementMac(key: KeyObject, purpose: string, fields: readonly string[]): Buffer {
  return macOf(key, [purpose, ...fields]);
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** JSON of an array of strings: no two different lists read the same. */
export function macOf(key: KeyObject, fields: readonly (string | null)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest();
}

export function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}
