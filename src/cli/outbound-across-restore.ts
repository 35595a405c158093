// SQL: temporary tables, and updates that compare with them.
import type { Tx } from '../platform/database/transactions.js';

/** Ended connectors or channels that the backup would have given back, and that stay ended after the restore. */
interface KeptEnded {
  readonly deleted: number;
  readonly disabled: number;
}

/** Connectors and notification channels: what the service reaches outside. */
export interface OutboundAcrossRestore {
  readonly connectors: KeptEnded;
  readonly channels: KeptEnded;
}

interface OutboundTable {
  readonly name: 'connectors' | 'notification_channels';
  /** Changes that a deletion makes besides, as the repository of the table does. */
  readonly emptied: string;
}

const CONNECTORS: OutboundTable = { name: 'connectors', emptied: '' };
const CHANNELS: OutboundTable = {
  name: 'notification_channels',
  emptied: `, config = '{}', former_secret = null, former_secret_until = null`,
};

/** Keeps which connectors and channels are disabled or deleted. Called before the content is replaced. */
export async function noteOutboundBeforeRestore(tx: Tx): Promise<void> {
  for (const { name } of [CONNECTORS, CHANNELS]) {
    await tx.query(
      `create temporary table ${name}_before_restore on commit drop as
         select id, enabled, version, deleted_at from ${name}`,
    );
  }
}

/** Deletes and disables again what was deleted or disabled. Called after the content was replaced. */
export async function carryOutboundOverRestore(tx: Tx): Promise<OutboundAcrossRestore> {
  return {
    connectors: await carry(tx, CONNECTORS),
    channels: await carry(tx, CHANNELS),
  };
}

async function carry(tx: Tx, { name, emptied }: OutboundTable): Promise<KeptEnded> {
  // A process remembers a connector by its version.
  const change = async (set: string, where: string): Promise<number> => {
    const [, changed] = await tx.query<[unknown, number]>(
      `update ${name} now set enabled = false, ${set} version = greatest(now.version, before.version) + 1, updated_at = now()
         from pg_temp.${name}_before_restore before
        where before.id = now.id and now.deleted_at is null and ${where}`,
    );
    return changed;
  };
  return {
    deleted: await change(
      `deleted_at = before.deleted_at, secrets = null, secret_names = '{}'${emptied},`,
      'before.deleted_at is not null',
    ),
    disabled: await change('', 'not before.enabled and now.enabled'),
  };
}
