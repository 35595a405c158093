import { GENESIS, headMac, sameBytes, type SealedPoint } from './audit-chain.js';
import type { KeyRing, NamedKey } from '../../platform/secrets/secret-keys.js';

/** How far the sealer has looked. The snapshots are those of PostgreSQL, as text. */
export interface Progress {
  /** The database cluster that the snapshots and transaction ids belong to. */
  readonly cluster: string;
  /** Every row that this snapshot sees is sealed. Null: nothing is known, and every row has to be looked at. */
  readonly sealedTo: string | null;
  /** The present round seals the rows that this snapshot sees and `sealedTo` does not. Null: there is no present round. */
  readonly sealingTo: string | null;
  /** The last row that the present round has looked at. */
  readonly after: Cursor | null;
}

/** The place of a row in the order in which a round looks at rows. */
export interface Cursor {
  readonly xid: string;
  readonly id: string;
}

/** The row of audit_chain: the last seal and the progress of the sealer, signed. */
export interface ChainHead extends SealedPoint, Progress {
  readonly keyId: string;
  readonly mac: Buffer;
}

/** The end of the chain as one statement saw it. */
export interface ChainEnd {
  readonly head: ChainHead | undefined;
  readonly lastSeal: SealedPoint;
  readonly now: { readonly snapshot: string; readonly cluster: string };
  /** The database was restored into another cluster, where the head's snapshots have no meaning. */
  readonly restored: boolean;
}

export function signHead({ id, key }: NamedKey, point: SealedPoint, progress: Progress): ChainHead {
  return { ...point, ...progress, keyId: id, mac: headMac(key, point, fieldsOf(progress)) };
}

/** In words, what is wrong with the end of the chain. Only the service writes it, so that a fault means tampering. */
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
