// SQL: an advisory lock, and a playbook that is stored with its version.
import { findOrder, type Page } from '../platform/paging/page.js';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { isUuid } from '../platform/ids.js';
import type { PlaybookQueryDto, PlaybookVersionsQueryDto } from './playbook.dto.js';
import {
  PLAYBOOK_NAME,
  PlaybookEntity,
  type PlaybookVersion,
  PlaybookVersionEntity,
} from './playbook.js';

const NOT_DELETED = { deleted_at: IsNull() };

const COUNT_LOCK = {
  name: 'playbooks_count_lock',
  text: `select pg_advisory_xact_lock(${AdvisoryLock.PlaybookCount})`,
};

/** The principal of the new version sets a flag that was not set before. */
const setBy = (flag: string) =>
  `case when stored.definition ->> '${flag}' = 'true' then coalesce(before.${flag}_by, stored.updated_by) end`;

/** Inserts a playbook, or makes a new version of it. */
const STORE: Statement = {
  name: 'playbooks_store',
  text: `
    with stored as (
      insert into playbooks (id, name, enabled, auto_run, definition, created_by, updated_by)
      values ($1, $2, ($3::json ->> 'enabled')::boolean, ($3::json ->> 'auto_run')::boolean, $3, $4, $4)
      on conflict (id) do update
         set name = excluded.name, enabled = excluded.enabled, auto_run = excluded.auto_run, version = playbooks.version + 1,
             definition = excluded.definition, updated_by = excluded.updated_by, updated_at = now()
      returning *),
    kept as (
      insert into playbook_versions (
        playbook_id, version, name, definition, changed_by, changed_at, auto_run_by, trust_verdict_by)
      select stored.id, stored.version, stored.name, stored.definition, stored.updated_by, stored.updated_at,
             ${setBy('auto_run')}, ${setBy('trust_verdict')}
        from stored left join playbook_versions before
          on before.playbook_id = stored.id and before.version = stored.version - 1)
    select * from stored`,
};

@Injectable()
export class PlaybooksRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  async list({ page, per_page, sort, ...query }: PlaybookQueryDto): Promise<Page<PlaybookEntity>> {
    const { name, enabled, auto_run } = query;
    const filters = Object.entries({ name, enabled, auto_run });
    // TypeORM rejects undefined values.
    const given = Object.fromEntries(filters.filter(([, value]) => value !== undefined));
    const [items, total] = await this.dataSource.getRepository(PlaybookEntity).findAndCount({
      where: { ...given, ...NOT_DELETED },
      order: findOrder(sort, { created_at: 'created_at', name: 'name' }, 'id'),
      take: per_page,
      skip: (page - 1) * per_page,
    });
    return { items, total };
  }

  /** Also returns a disabled playbook, but not a deleted one. No name is a UUID, so a reference is never ambiguous. */
  async find(nameOrId: string, tx?: Tx, locks = false): Promise<PlaybookEntity | undefined> {
    if (!isUuid(nameOrId) && !PLAYBOOK_NAME.test(nameOrId)) return undefined;
    const row = await (tx ?? this.dataSource).getRepository(PlaybookEntity).findOne({
      where: { ...(isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId }), ...NOT_DELETED },
      lock: locks ? { mode: 'pessimistic_write' } : undefined,
    });
    return row ?? undefined;
  }

  /** Returns the id. A deleted playbook is found by its id only, because another playbook may have its name. */
  async findId(nameOrId: string): Promise<string | undefined> {
    if (!isUuid(nameOrId)) return (await this.find(nameOrId))?.id;
    const exists = await this.dataSource.getRepository(PlaybookEntity).existsBy({ id: nameOrId });
    return exists ? nameOrId : undefined;
  }

  /** Returns the enabled playbooks with `auto_run`, locked, so that no two transactions give the same turn to their runs. */
  async autoRuns(tx: Tx): Promise<PlaybookEntity[]> {
    const repository = tx.getRepository(PlaybookEntity);
    const where = { auto_run: true, enabled: true, ...NOT_DELETED };
    const lock = { mode: 'for_no_key_update' } as const;
    return await repository.find({ where, order: { id: 'asc' }, lock });
  }

  async versions(
    id: string,
    { page, per_page, sort }: PlaybookVersionsQueryDto,
  ): Promise<Page<PlaybookVersionEntity>> {
    const repository = this.dataSource.getRepository(PlaybookVersionEntity);
    const [items, total] = await repository.findAndCount({
      where: { id },
      order: { version: sort === 'version' ? 'asc' : 'desc' },
      take: per_page,
      skip: (page - 1) * per_page,
    });
    return { items, total };
  }

  /** Includes deleted playbooks, whose rows stay. */
  async hasEverBeenOne(tx: Tx): Promise<boolean> {
    return await tx.getRepository(PlaybookEntity).exists();
  }

  /** Counts the playbooks. Other callers wait for the end of the transaction, so that two cannot both create the last one. */
  async countAlone(tx: Tx): Promise<number> {
    await this.statements.rowsIn(tx, COUNT_LOCK);
    return await tx.getRepository(PlaybookEntity).countBy(NOT_DELETED);
  }

  /** Inserts the playbook, or creates a new version of it if it is there. Then it is locked. */
  async store(
    tx: Tx,
    { id, name, definition }: Omit<PlaybookVersion, 'version'>,
    by: string,
  ): Promise<PlaybookEntity> {
    const values = [id, name, JSON.stringify(definition), by];
    return (await this.statements.rowsIn<PlaybookEntity>(tx, STORE, values))[0]!;
  }

  async markDeleted(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(PlaybookEntity).update(id, { deleted_at: () => 'now()' });
  }
}
