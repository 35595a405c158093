// SQL: a temporary table, and statements that compare with it.
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { PlaybookDefinition } from './playbook.js';
import { PlaybooksRepository } from './playbooks.repository.js';

/** Playbooks that the backup would have let run again, and that a restore leaves as they were before the restore. */
export interface PlaybooksAcrossRestore {
  readonly deleted: number;
  /** `enabled`, `auto_run` or `trust_verdict` stays switched off. */
  readonly restricted: number;
}

interface ChangedPlaybook {
  readonly id: string;
  readonly name: string;
  readonly definition: PlaybookDefinition;
  readonly updated_by: string;
  readonly before: Pick<PlaybookDefinition, 'enabled' | 'auto_run' | 'trust_verdict'>;
}

/** Keeps what each playbook may do. Called before the content is replaced. */
export async function notePlaybooksBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table playbooks_before_restore on commit drop as
       select id, version, definition, deleted_at from playbooks`,
  );
}

/**
 * Deletes again the playbooks that had been deleted before the restore, and switches off again what had been switched off.
 * Called after the content was replaced. A playbook that had other versions before the restore gets a new version with a
 * number of its own: a process remembers versions by their numbers.
 */
export async function carryPlaybooksOverRestore(tx: Tx): Promise<PlaybooksAcrossRestore> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `update playbooks set deleted_at = before.deleted_at
       from pg_temp.playbooks_before_restore before
      where before.id = playbooks.id and before.deleted_at is not null and playbooks.deleted_at is null`,
  );
  const changed = await tx.query<ChangedPlaybook[]>(
    `select id, name, playbooks.definition, updated_by, before.definition as before
       from playbooks join pg_temp.playbooks_before_restore before using (id)
      where playbooks.deleted_at is null
        and (before.version <> playbooks.version or before.definition::text <> playbooks.definition::text)
      order by id`,
  );
  const playbooks = new PlaybooksRepository(tx.dataSource, new Statements(tx.dataSource));
  let restricted = 0;
  for (const { id, name, definition, updated_by, before } of changed) {
    const lesser = {
      enabled: definition.enabled && before.enabled,
      auto_run: definition.auto_run && before.auto_run,
      trust_verdict: definition.trust_verdict && before.trust_verdict,
    };
    const flags = ['enabled', 'auto_run', 'trust_verdict'] as const;
    if (flags.some((flag) => definition[flag] !== lesser[flag])) restricted += 1;
    await tx.query(
      `update playbooks set version = greatest(playbooks.version, before.version)
         from pg_temp.playbooks_before_restore before where before.id = playbooks.id and playbooks.id = $1`,
      [id],
    );
    // By its author: what a playbook does by itself, its author must not approve alone.
    await playbooks.update(tx, { id, name, definition: { ...definition, ...lesser } }, updated_by);
  }
  return { deleted, restricted };
}
