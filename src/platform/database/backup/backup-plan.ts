import type { ClientBase } from 'pg';
import type { Tx } from '../transactions.js';
import type { SigningKey } from './signature.js';

/** What the tables mean, from those who know it. */
export interface BackupPlan {
  /** Tables that are not kept, and stay as the migrations make them. */
  readonly excludedTables: readonly string[];
  /** The ids of the keys that the contents need. It may refuse to make a backup that nobody could use. */
  keyIds(client: ClientBase): Promise<readonly string[]>;
  /** What vouches for a backup that needs these keys, so that no other one is needed to check it. */
  signerOf(keyIds: readonly string[]): SigningKey | undefined;
}

/** The same for a restore. */
export interface RestorePlan {
  readonly excludedTables: readonly string[];
  /** Whether every process that uses the present database has the keys of the backup. */
  readableToAll(tx: Tx): Promise<boolean>;
  /** What of the present database has to outlast the restore; `inUse`: the service runs, and goes on. */
  remember(tx: Tx, inUse: boolean): Promise<void>;
  /** What was remembered is put back, and what follows from the contents is made anew, in the same transaction. */
  rebuild(tx: Tx): Promise<void>;
}
