import type { ClientBase } from 'pg';
import type { Tx } from '../transactions.js';

/** What the tables mean, from those who know it. */
export interface BackupPlan {
  /** Tables that are not kept, and stay as the migrations make them. */
  readonly leftOut: readonly string[];
  /** The ids of the keys that the contents need. It may refuse to make a backup that nobody could use. */
  keyIds(client: ClientBase): Promise<readonly string[]>;
  /** What follows from the contents is made anew, in the transaction that restores them. */
  rebuild(tx: Tx): Promise<void>;
}
