import { CONNECTOR_SECRETS } from './connectors/config/sealed-config.js';
import { KEPT_SECRETS } from './platform/idempotency/kept-secrets.js';
import type { SealedColumn } from './platform/secrets/sealed-values.js';

/** Every column that holds what SecretBox sealed. What is missing here would be lost with the key that sealed it. */
export const sealedColumns: readonly SealedColumn[] = [CONNECTOR_SECRETS, KEPT_SECRETS];
