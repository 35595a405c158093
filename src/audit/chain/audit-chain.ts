import { Injectable } from '@nestjs/common';
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  type KeyRing,
  type NamedKey,
  SecretBox,
  SecretKeys,
} from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/secret-keys.js';
import type { AuditContent, AuditRow } from '../audit-entry.js';
import type { AuditChainEntity, AuditRetiredKeyEntity, AuditSealEntity } from '../audit.entity.js';

/** Keys for the MACs of rows, seals and heads, derived from SECRETS_KEY. The first field of each MAC is its purpose. */
@Injectable()
export class AuditKeys {
  readonly ring: KeyRing;
  private readonly box: SecretBox;

  constructor(keys: SecretKeys) {
    this.ring = keys.derive('audit');
    this.box = new SecretBox(keys);
  }

  /** Encrypts the older keys of SECRETS_KEY with its first key, so that an operator can remove the older keys. */
  retireOlder(lastSeq: bigint): AuditRetiredKeyEntity[] {
    return this.ring.older.map(({ id: key_id, key }) => {
      const content = JSON.stringify([key.export().toString('base64'), String(lastSeq)]);
      return { key_id, sealed: this.box.seal(content, contextOf(key_id)) };
    });
  }

  /** Returns a function that finds the key of a seal: a key of SECRETS_KEY, or a retired key up to its last seal. */
  finder(retired: readonly AuditRetiredKeyEntity[]): FindKey {
    const opened = retired.map((one) => this.open(one));
    return (id, seq) =>
      this.ring.find(id)?.key ?? opened.find((one) => one?.id === id && seq <= one.lastSeq)?.key;
  }

  /** Returns `undefined` if the encrypted key was altered, or was encrypted with an unknown key. */
  private open({ key_id: id, sealed }: AuditRetiredKeyEntity) {
    try {
      const [key, lastSeq] = JSON.parse(this.box.open(sealed, contextOf(id))) as [string, string];
      return { id, key: createSecretKey(key, 'base64'), lastSeq: BigInt(lastSeq) };
    } catch {
      return undefined;
    }
  }
}

export type FindKey = (id: string, seq: bigint) => KeyObject | undefined;

const contextOf = (keyId: string) => `audit-key:${keyId}`;

export const RETIRED_AUDIT_KEYS: SealedColumn = {
  table: 'audit_retired_keys',
  column: 'sealed',
  id: ['key_id'],
  where: 'true',
  context: ({ key_id }) => contextOf(key_id!),
};

export const HASH_BYTES = 32;

export type SealedPoint = Pick<AuditSealEntity, 'seq' | 'hash'>;

export const GENESIS: SealedPoint = { seq: 0n, hash: Buffer.alloc(HASH_BYTES) };

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

export function isGenuine(row: AuditRow, keys: KeyRing): boolean {
  return isSignedBy(keys.find(row.key_id)?.key, row);
}

function isSignedBy(key: KeyObject | undefined, row: AuditRow): boolean {
  return key !== undefined && sameBytes(row.mac, rowMac(key, row));
}

/** Computes the next seal. The seal covers only the MAC of the row, so the sealer need not read the whole row. */
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

/** The purpose comes first, so that a MAC is valid for one purpose. JSON gives different lists different texts. */
export function macOf(key: KeyObject, fields: readonly (string | null)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest();
}

export function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

export type ChainHead = Omit<AuditChainEntity, 'only_row' | 'found_invalid_at'>;

export interface ChainEnd {
  readonly head: ChainHead | undefined;
  readonly lastSeal: SealedPoint;
  readonly now: { readonly snapshot: string; readonly cluster: string };
  /** True if the head comes from another cluster or from a later state, so that its snapshot has no meaning here. */
  readonly restored: boolean;
  readonly sealedTo: string | null;
}

/** Returns xmax of the text `xmin:xmax:xip,…`. The snapshot sees all transactions below xmax except xip. */
export const snapshotEnd = (snapshot: string): bigint => BigInt(snapshot.split(':')[1]!);

export function signHead(
  { id: key_id, key }: NamedKey,
  { seq, hash }: SealedPoint,
  { cluster, sealed_to }: Pick<ChainHead, 'cluster' | 'sealed_to'>,
): ChainHead {
  const mac = macOf(key, ['head', String(seq), hex(hash), cluster, sealed_to]);
  return { seq, hash, cluster, sealed_to, key_id, mac };
}

/** Returns the fault at the end of the chain, if any. Only the service writes the end, so a fault means tampering. */
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

/** Seal with its row. The row is absent if it was deleted from the audit log. */
export interface SealedRow extends AuditSealEntity {
  readonly row: AuditRow | undefined;
}

export function faultOfSeal(
  findKey: FindKey,
  previous: SealedPoint,
  { seq, hash, key_id, row }: SealedRow,
): string | undefined {
  if (!row) return 'was removed: only its seal is left';
  if (!isSignedBy(findKey(row.key_id, seq), row)) return 'was changed';
  if (seq !== previous.seq + 1n) {
    return `entries are missing or moved: the previous seal is ${previous.seq}`;
  }
  const key = findKey(key_id, seq);
  return key && sameBytes(hash, nextSeal(key, previous, row).hash)
    ? undefined
    : 'its seal does not follow from the previous seal';
}
