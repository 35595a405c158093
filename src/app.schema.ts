import * as entities from './app.entities.js';
import { RETIRED_AUDIT_KEYS } from './audit/chain/audit-chain.js';
import { CONNECTOR_SECRETS } from './targets/target-rows.js';
import { FirstSchema1796000000000 } from './migrations/1796000000000-first-schema.js';
import { CHANNEL_SECRETS } from './notifications/channel.js';
import type { Schema } from './platform/database/data-source.js';
import { REMEMBERED_SECRETS } from './platform/idempotency/idempotency.js';
import type { SealedColumn } from './platform/secrets/secret-keys.js';
import { WEBHOOK_SECRETS } from './webhooks/sources/webhook-sources.service.js';

export const schema: Schema = {
  entities: Object.values(entities),
  migrations: [FirstSchema1796000000000],
};

/** All columns with values of SecretBox. A key rotation makes the values of a missing column unreadable. */
export const sealedColumns: readonly SealedColumn[] = [
  CONNECTOR_SECRETS,
  ...CHANNEL_SECRETS,
  REMEMBERED_SECRETS,
  RETIRED_AUDIT_KEYS,
  ...WEBHOOK_SECRETS,
];
