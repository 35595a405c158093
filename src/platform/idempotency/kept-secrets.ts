import type { SealedColumn } from '../secrets/sealed-values.js';
import { secretContextOf } from './identity.js';

/** Answers that hold a secret, such as a new API key. They are kept for a day only. */
export const KEPT_SECRETS: SealedColumn = {
  table: 'idempotency_keys',
  column: 'body',
  id: ['principal', 'key'],
  where: 'sealed',
  context: ({ principal, key }) => secretContextOf({ principal: principal!, key: key! }),
  discard: 'delete from idempotency_keys',
};
