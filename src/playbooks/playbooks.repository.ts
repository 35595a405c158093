// SQL: an advisory lock, the authors of a version, and a playbook that is stored with its version.
import { findOrder, type Page } from '../platform/paging/page.js';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { isUuid } from '../platform/ids.js';
import type { PlaybookQueryDto, PlaybookVersionsQueryDto } from './playbook.dto.js';
import {
  isNameOrId,
  PlaybookEntity,
  type PlaybookVersion,
  PlaybookVersionEntity,
} from './playbook.js';

const NOT_DELETED = { deleted_at: IsNull() };

const COUNT_LOCK = {
  name: 'playbooks_count_lock',
  text: `select pg_advisory_xact_lock(${AdvisoryLock.PlaybookCount})`,
};

/** Authors of a version: see authorsOf. */
const AUTHORS: Statement = {
  name: 'playbook_versions_authors',
  text: `
    with versions as (
      select version, changed_by, flag, definition ->> flag = 'true' as is_set,
             lag(definition ->> flag = 'true', 1, false) over (partition by flag order by version) as was_set
        from playbook_versions cross join unnest(array['auto_run', 'trust_verdict']) as flag
       where playbook_id = $1 and version <= $2)
    select changed_by as name from versions where version = $2
     union
    select (select changed_by from versions earlier
             where earlier.flag = versions.flag and earlier.is_set and not earlier.was_set
             order by earlier.version desc limit 1)
      from versions where version = $2 and is_set`,
};

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
      insert into playbook_versions (playbook_id, version, name, definition, changed_by, changed_at)
      select id, version, name, definition, updated_by, updated_at from stored)
    select * from stored`,
};

const MOST_VERSIONS_KNOWN = 100;

@Injectable()
export class PlaybooksRepository {
  /** A version never changes. */
  private readonly versionsKnown = new Map<string, PlaybookVersionEntity>();
  private readonly authorsKnown = new Map<string, readonly string[]>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  async list({ page, per_page, sort, ...filter }: PlaybookQueryDto): Promise<Page<PlaybookEntity>> {
    const { name, enabled, auto_run } = filter;
    const [items, total] = await this.dataSource.getRepository(PlaybookEntity).findAndCount({
      where: { ...given({ name, enabled, auto_run }), ...NOT_DELETED },
      order: findOrder(sort, { created_at: 'created_at', name: 'name' }, 'id'),
      take: per_page,
      skip: (page - 1) * per_page,
    });
    return { items, total };
  }

  /** Also returns a disabled playbook, but not a deleted one. No name is a UUID, so a reference is never ambiguous. */
  async find(nameOrId: string, tx?: Tx, locks = false): Promise<PlaybookEntity | undefined> {
    if (!isNameOrId(nameOrId)) return undefined;
    const row = await (tx ?? this.dataSource).getRepository(PlaybookEntity).findOne({
      where: { ...(isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId }), ...NOT_DELETED },
      lock: locks ? { mode: 'pessimistic_write' } : undefined,
    });
    return row ?? undefined;
  }

  /** Returns the enabled playbooks with `auto_run`, by name. */
  async autoRuns(tx: Tx): Promise<PlaybookEntity[]> {
    const repository = tx.getRepository(PlaybookEntity);
    const where = { auto_run: true, enabled: true, ...NOT_DELETED };
    return await repository.find({ where, order: { name: 'asc' } });
  }

  /** Returns a version, also of a deleted playbook. */
  async findVersion(
    id: string,
    version: number,
    reader: Pick<Tx, 'getRepository'> = this.dataSource,
  ): Promise<PlaybookVersionEntity | undefined> {
    return await remembered(this.versionsKnown, `${id} ${version}`, async () => {
      const repository = reader.getRepository(PlaybookVersionEntity);
      return (await repository.findOneBy({ id, version })) ?? undefined;
    });
  }

  /** Returns the author of the version, and the principals who last set its `auto_run` and `trust_verdict`. */
  async authorsOf(id: string, version: number, tx: Tx): Promise<readonly string[]> {
    const authors = await remembered(this.authorsKnown, `${id} ${version}`, async () => {
      const rows = await this.statements.rowsIn<{ name: string }>(tx, AUTHORS, [id, version]);
      return rows.map(({ name }) => name);
    });
    return authors!;
  }

  /** Lists the versions, also of a deleted playbook. */
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

async function remembered<T>(
  known: Map<string, T>,
  key: string,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const value = known.get(key) ?? (await read());
  if (value === undefined || known.has(key)) return value;
  if (known.size === MOST_VERSIONS_KNOWN) known.clear();
  known.set(key, value);
  return value;
}

/** TypeORM rejects undefined values in `where`. */
function given<T extends object>(filter: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
