// SQL for the read of all connectors, which every action request needs.
import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { DataSource, IsNull } from 'typeorm';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { isUuid } from '../platform/ids.js';
import { findOrder, type Page, type PageRequest, sortWords } from '../platform/paging/page.js';
import { SECRETS_LOST } from '../targets/target-secrets.js';
import type { TestResult } from './connector-type.js';
import { type CheckedStatus, ConnectorEntity } from './connector.entity.js';

/** Fields that a caller sets. */
type ConnectorContent = Pick<
  ConnectorEntity,
  'name' | 'enabled' | 'priority' | 'config' | 'secrets' | 'secret_names'
>;
export type NewConnector = ConnectorContent & Pick<ConnectorEntity, 'id' | 'type'>;

export const CONNECTOR_SORTS = sortWords('created_at', 'name');
export type ConnectorSort = (typeof CONNECTOR_SORTS)[number];

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;
const LOCK = { mode: 'pessimistic_write' } as const;
const NOT_DELETED = { deleted_at: IsNull() };
const NOT_CHECKED_YET = {
  health: null,
  health_message: null,
  latency_ms: null,
  last_checked_at: null,
};

/** A change of the health that is reported. */
export interface Turn {
  readonly isUnhealthy: boolean;
  /** Time at which the failure was reported, if this is a recovery. */
  readonly since: Date | null;
}

@Injectable()
export class ConnectorsRepository {
  private readonly readAll: Statement;
  /** Batches concurrent reads into one statement, which starts after all of them: see Batcher. */
  private readonly reads = new Batcher<undefined, readonly ConnectorEntity[]>(async (readers) => {
    const rows = await this.statements.rows<ConnectorEntity>(this.readAll);
    return readers.map(() => rows);
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {
    const { columns } = dataSource.getMetadata(ConnectorEntity);
    const names = columns.map(({ databaseName }) => databaseName).join(', ');
    this.readAll = {
      name: 'connectors_all',
      text: `select ${names} from connectors where deleted_at is null order by priority, name`,
    };
  }

  async list(request: PageRequest, sort: readonly ConnectorSort[]): Promise<Page<ConnectorEntity>> {
    const [items, total] = await this.dataSource.getRepository(ConnectorEntity).findAndCount({
      where: NOT_DELETED,
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      take: request.per_page,
      skip: (request.page - 1) * request.per_page,
    });
    return { items, total };
  }

  /** All connectors, in the order in which they serve actions. */
  async all(tx?: Tx): Promise<readonly ConnectorEntity[]> {
    return tx ? await this.statements.rowsIn(tx, this.readAll) : await this.reads.submit(undefined);
  }

  async find(id: string): Promise<ConnectorEntity | null> {
    if (!isUuid(id)) return null;
    return await this.dataSource.getRepository(ConnectorEntity).findOneBy({ id, ...NOT_DELETED });
  }

  async lock(tx: Tx, id: string): Promise<ConnectorEntity | null> {
    if (!isUuid(id)) return null;
    return await tx
      .getRepository(ConnectorEntity)
      .findOne({ where: { id, ...NOT_DELETED }, lock: LOCK });
  }

  async insert(tx: Tx, row: NewConnector): Promise<ConnectorEntity> {
    const repository = tx.getRepository(ConnectorEntity);
    await repository.insert(row);
    return await repository.findOneByOrFail({ id: row.id });
  }

  /** Whether a connector exists or existed: deleted connectors stay as rows. */
  async hasEverBeenOne(tx: Tx): Promise<boolean> {
    return await tx.getRepository(ConnectorEntity).exists();
  }

  /** Changes a locked connector. Check results of another configuration are discarded. */
  async update(
    tx: Tx,
    { id, config, secrets }: ConnectorEntity,
    content: ConnectorContent,
  ): Promise<ConnectorEntity> {
    const isSameConfig = secrets === content.secrets && isDeepStrictEqual(config, content.config);
    const repository = tx.getRepository(ConnectorEntity);
    await repository.update(id, {
      ...content,
      ...(isSameConfig ? {} : NOT_CHECKED_YET),
      version: () => 'version + 1',
      updated_at: () => 'now()',
    });
    return await repository.findOneByOrFail({ id });
  }

  /** The row stays for actions that refer to it. Its secrets are removed. */
  async markDeleted(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(ConnectorEntity).update(id, {
      deleted_at: () => 'now()',
      enabled: false,
      secrets: null,
      secret_names: [],
    });
  }

  /**
   * Stores the result of a check, unless the connector was changed or deleted during the check. Compares with the last
   * report, not with the last check: a connector with a new configuration has no last check, but its recovery must be
   * reported.
   */
  async recordCheck(
    tx: Tx,
    { id, version }: Pick<ConnectorEntity, 'id' | 'version'>,
    health: CheckedStatus,
    { message, latency_ms }: TestResult,
  ): Promise<Turn | undefined> {
    const repository = tx.getRepository(ConnectorEntity);
    const row = await repository.findOne({ where: { id, version, ...NOT_DELETED }, lock: LOCK });
    if (!row) return undefined;
    const { enabled, health_message, unhealthy_told_at: since } = row;
    // A test without the secrets must not hide that they are lost.
    if (!enabled && health_message === SECRETS_LOST) return undefined;
    const isUnhealthy = health === 'unhealthy';
    const isTurn = enabled && isUnhealthy !== (since !== null);
    await repository.update(id, {
      health,
      health_message: message,
      latency_ms,
      last_checked_at: () => 'now()',
      ...(isTurn && { unhealthy_told_at: isUnhealthy ? () => 'now()' : null }),
    });
    return isTurn ? { isUnhealthy, since } : undefined;
  }
}
