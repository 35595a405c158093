import type { SealedColumn } from '../platform/secrets/sealed-values.js';

export function contextOf(id: string): string {
  return `connector:${id}`;
}

/** Without its secrets a connector would call its vendor as nobody: it is disabled until they are set anew. */
export const CONNECTOR_SECRETS: SealedColumn = {
  table: 'connectors',
  column: 'secrets',
  id: ['id'],
  where: 'secrets is not null',
  context: ({ id }) => contextOf(id!),
  discard: `update connectors set secrets = null, secret_names = '{}', enabled = false,
    version = version + 1, updated_at = now()`,
};
