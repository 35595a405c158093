import { GENESIS, headMac, sameBytes, type SealedPoint } from './audit-chain.js';
import type { KeyRing, NamedKey } from '../../platform/secrets/secret-keys.js';

/** How far the sealer has looked; snapshots are PostgreSQL's, as text. */
export interface Progress {
  /** The database cluster that the snapshots and transaction ids belong to. */
  readonly cluster: string;
  /** Every row visible in this snapshot is sealed; null: unknown, every row has to be looked at. */
  readonly sealedTo: string | null;
  /** The round under way seals what this snapshot sees beyond the one before; null: none is. */
  readonly sealingTo: string | null;
  readonly after: Cursor | null;
}

export interface Cursor {
  readonly xid: string;
  readonly id: string;
}

export interface ChainHead extends SealedPoint, Progress {
  readonly keyId: string;
  readonly mac: Buffer;
}

/** The end of the chain as one statement saw it. */
export interface ChainEnd {
  readonly head: ChainHead | undefined;
  readonly lastSeal: SealedPoint;
  readonly now: { readonly snapshot: string; readonly cluster: string };
  /** The head's snapshots mean nothing here: the database was restored into another cluster. */
  readonly restored: boolean;
}

export function signHead({ id, key }: NamedKey, point: SealedPoint, progress: Progress): ChainHead {
  return { ...point, ...progress, keyId: id, mac: headMac(key, point, fieldsOf(progress)) };
}

/** In words, what is wrong with the end of the chain; the service alone writes it, so nothing but tampering explains it. */
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
