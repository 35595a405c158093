// SQL for the read of all connectors, which every action request needs.
import { findOrder, sortWords, type Page, type PageRequest } from '../platform/paging/page.js';
import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { DataSource, IsNull } from 'typeorm';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Config } from '../targets/target-config.js';
import { SECRETS_LOST } from '../targets/target-secrets.js';
import type { CheckResult, SealedConnector } from './connector.js';
import { ConnectorEntity } from './connector.entity.js';

/** Fields that a caller sets. */
interface ConnectorContent {
  readonly name: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly config: Config;
  readonly sealed: string | undefined;
  readonly secretNames: readonly string[];
}

export const CONNECTOR_SORTS = sortWords('created_at', 'name');
export type ConnectorSort = (typeof CONNECTOR_SORTS)[number];

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

const NOT_DELETED = { deleted_at: IsNull() };
const NOT_CHECKED_YET = {
  health: null,
  health_message: null,
  latency_ms: null,
  last_checked_at: null,
};

@Injectable()
export class ConnectorsRepository {
  private readonly readAll: Statement;
  /** Batches concurrent reads into one statement, which starts after all of them: see Batcher. */
  private readonly reads = new Batcher<undefined, readonly SealedConnector[]>(async (readers) => {
    const rows = await this.statements.rows<ConnectorEntity>(this.readAll);
    const connectors = rows.map(connectorOf);
    return readers.map(() => connectors);
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

  async list(request: PageRequest, sort: readonly ConnectorSort[]): Promise<Page<SealedConnector>> {
    const [rows, total] = await this.dataSource.getRepository(ConnectorEntity).findAndCount({
      where: NOT_DELETED,
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      take: request.per_page,
      skip: (request.page - 1) * request.per_page,
    });
    return { items: rows.map(connectorOf), total };
  }

  /** All connectors, in the order in which they serve actions. */
  async all(): Promise<readonly SealedConnector[]> {
    return await this.reads.submit(undefined);
  }

  async findById(id: string): Promise<SealedConnector | undefined> {
    const repository = this.dataSource.getRepository(ConnectorEntity);
    const row = await repository.findOneBy({ id, ...NOT_DELETED });
    return row ? connectorOf(row) : undefined;
  }

  async lockById(tx: Tx, id: string): Promise<SealedConnector | undefined> {
    const row = await tx.getRepository(ConnectorEntity).findOne({
      where: { id, ...NOT_DELETED },
      lock: { mode: 'pessimistic_write' },
    });
    return row ? connectorOf(row) : undefined;
  }

  async insert(
    tx: Tx,
    id: string,
    type: string,
    content: ConnectorContent,
  ): Promise<SealedConnector> {
    await tx.getRepository(ConnectorEntity).insert({ id, type, ...columnsOf(content) });
    return await this.read(tx, id);
  }

  /** Whether a connector exists or existed: deleted connectors stay as rows. */
  async hasEverBeenOne(tx: Tx): Promise<boolean> {
    return await tx.getRepository(ConnectorEntity).exists();
  }

  /** Changes a locked connector. Check results of another configuration are discarded. */
  async update(
    tx: Tx,
    before: SealedConnector,
    content: ConnectorContent,
  ): Promise<SealedConnector> {
    const isSameConfig =
      before.sealed === content.sealed && isDeepStrictEqual(before.config, content.config);
    await tx.getRepository(ConnectorEntity).update(before.id, {
      ...columnsOf(content),
      ...(isSameConfig ? {} : NOT_CHECKED_YET),
      version: () => 'version + 1',
      updated_at: () => 'now()',
    });
    return await this.read(tx, before.id);
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
   * Returns when the failure was reported, if it was. `undefined` if the connector was changed or deleted during the
   * check.
   */
  async recordCheck(
    tx: Tx,
    { id, version }: Pick<SealedConnector, 'id' | 'version'>,
    { status, message, latencyMs }: CheckResult,
  ): Promise<{ readonly unhealthyToldAt: Date | null } | undefined> {
    const repository = tx.getRepository(ConnectorEntity);
    const row = await repository.findOne({
      where: { id, version, ...NOT_DELETED },
      lock: { mode: 'pessimistic_write' },
    });
    if (!row) return undefined;
    // A test without the secrets must not hide that they are lost.
    if (!row.enabled && row.health_message === SECRETS_LOST) return undefined;
    await repository.update(id, {
      health: status,
      health_message: message,
      latency_ms: latencyMs,
      last_checked_at: () => 'now()',
    });
    return { unhealthyToldAt: row.unhealthy_told_at };
  }

  /** Stores that the failure, or the recovery, was reported. */
  async markTold(tx: Tx, id: string, isUnhealthy: boolean): Promise<void> {
    const unhealthy_told_at = isUnhealthy ? () => 'now()' : null;
    await tx.getRepository(ConnectorEntity).update(id, { unhealthy_told_at });
  }

  private async read(tx: Tx, id: string): Promise<SealedConnector> {
    return connectorOf(await tx.getRepository(ConnectorEntity).findOneByOrFail({ id }));
  }
}

function columnsOf({ name, enabled, priority, config, sealed, secretNames }: ConnectorContent) {
  const secrets = sealed ?? null;
  return { name, enabled, priority, config, secrets, secret_names: [...secretNames] };
}

function connectorOf(row: ConnectorEntity): SealedConnector {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    enabled: row.enabled,
    priority: row.priority,
    config: row.config,
    sealed: row.secrets ?? undefined,
    secretNames: row.secret_names,
    version: row.version,
    health: row.health ?? undefined,
    healthMessage: row.health_message ?? undefined,
    latencyMs: row.latency_ms ?? undefined,
    lastCheckedAt: row.last_checked_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
