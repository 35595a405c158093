// SQL: an advisory lock, and the authors of a version.
import { findOrder, sortWords, type Page, type PageRequest } from '../platform/paging/page.js';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { isUuid } from '../platform/ids.js';
import { type PlaybookDefinition, PlaybookEntity, PlaybookVersionEntity } from './playbook.js';

export const PLAYBOOK_SORTS = sortWords('created_at', 'name');
export type PlaybookSort = (typeof PLAYBOOK_SORTS)[number];

export const VERSION_SORTS = sortWords('version');
export type VersionSort = (typeof VERSION_SORTS)[number];

export interface PlaybookListRequest extends PageRequest {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly auto_run?: boolean;
  readonly sort: readonly PlaybookSort[];
}

export interface VersionListRequest extends PageRequest {
  readonly sort: VersionSort;
}

interface PlaybookContent {
  readonly id: string;
  readonly name: string;
  readonly definition: PlaybookDefinition;
}

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

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

  async list({
    page,
    per_page,
    sort,
    ...filter
  }: PlaybookListRequest): Promise<Page<PlaybookEntity>> {
    const { name, enabled, auto_run } = filter;
    const [items, total] = await this.dataSource.getRepository(PlaybookEntity).findAndCount({
      where: { ...given({ name, enabled, auto_run }), ...NOT_DELETED },
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      take: per_page,
      skip: (page - 1) * per_page,
    });
    return { items, total };
  }

  async find(nameOrId: string, tx?: Tx): Promise<PlaybookEntity | undefined> {
    const repository = (tx ?? this.dataSource).getRepository(PlaybookEntity);
    return (await repository.findOneBy({ ...keyOf(nameOrId), ...NOT_DELETED })) ?? undefined;
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
    const key = `${id} ${version}`;
    const known = this.versionsKnown.get(key);
    if (known) return known;
    const row = await reader.getRepository(PlaybookVersionEntity).findOneBy({ id, version });
    if (!row) return undefined;
    if (this.versionsKnown.size === MOST_VERSIONS_KNOWN) this.versionsKnown.clear();
    this.versionsKnown.set(key, row);
    return row;
  }

  /** Returns the author of the version, and the principals who last set its `auto_run` and `trust_verdict`. */
  async authorsOf(id: string, version: number, tx: Tx): Promise<readonly string[]> {
    const key = `${id} ${version}`;
    const known = this.authorsKnown.get(key);
    if (known) return known;
    const rows = await this.statements.rowsIn<{ name: string }>(tx, AUTHORS, [id, version]);
    const authors = rows.map(({ name }) => name);
    if (this.authorsKnown.size === MOST_VERSIONS_KNOWN) this.authorsKnown.clear();
    this.authorsKnown.set(key, authors);
    return authors;
  }

  /** Lists the versions, also of a deleted playbook. */
  async versions(
    id: string,
    { page, per_page, sort }: VersionListRequest,
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

  async lock(tx: Tx, nameOrId: string): Promise<PlaybookEntity | undefined> {
    const row = await tx.getRepository(PlaybookEntity).findOne({
      where: { ...keyOf(nameOrId), ...NOT_DELETED },
      lock: { mode: 'pessimistic_write' },
    });
    return row ?? undefined;
  }

  async insert(tx: Tx, { id, ...content }: PlaybookContent, by: string): Promise<PlaybookEntity> {
    const who = { created_by: by, updated_by: by };
    await tx.getRepository(PlaybookEntity).insert({ id, ...columnsOf(content), ...who });
    return await this.keepVersion(tx, id);
  }

  /** Creates a new version. The playbook is locked. */
  async update(tx: Tx, { id, ...content }: PlaybookContent, by: string): Promise<PlaybookEntity> {
    await tx.getRepository(PlaybookEntity).update(id, {
      ...columnsOf(content),
      version: () => 'version + 1',
      updated_by: by,
      updated_at: () => 'now()',
    });
    return await this.keepVersion(tx, id);
  }

  async markDeleted(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(PlaybookEntity).update(id, { deleted_at: () => 'now()' });
  }

  private async keepVersion(tx: Tx, id: string): Promise<PlaybookEntity> {
    const row = await tx.getRepository(PlaybookEntity).findOneByOrFail({ id });
    const { version, name, definition, updated_by: changed_by, updated_at: changed_at } = row;
    const kept = { id, version, name, definition: definition as object, changed_by, changed_at };
    await tx.getRepository(PlaybookVersionEntity).insert(kept);
    return row;
  }
}

/** TypeORM rejects undefined values in `where`. */
function given<T extends object>(filter: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

/** No name is a UUID, so a reference is never ambiguous. */
function keyOf(nameOrId: string): { readonly id: string } | { readonly name: string } {
  return isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId };
}

function columnsOf({ name, definition }: Omit<PlaybookContent, 'id'>) {
  const { enabled, auto_run } = definition;
  return { name, enabled, auto_run, definition: definition as object };
}
