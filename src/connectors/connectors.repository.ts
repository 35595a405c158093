// SQL for the read of all connectors, which every action request needs.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { TargetRows } from '../targets/target-rows.js';
import { SECRETS_LOST } from '../targets/target-secrets.js';
import type { TargetTest } from '../targets/target-contract.js';
import { type CheckedStatus, ConnectorEntity } from './connector.entity.js';

const NOT_CHECKED_YET = {
  health: null,
  health_message: null,
  latency_ms: null,
  last_checked_at: null,
};

/** A change of the health that is reported. `since`: time at which the failure was reported, if this is a recovery. */
interface Turn {
  readonly isUnhealthy: boolean;
  readonly since: Date | null;
}

@Injectable()
export class ConnectorsRepository extends TargetRows<ConnectorEntity> {
  protected readonly entity = ConnectorEntity;
  protected readonly noun = 'Connector';
  private readonly readAll: Statement;
  /** Concurrent reads share one statement, which starts after all of them. */
  private readonly reads = new Batcher<undefined, readonly ConnectorEntity[]>(async (readers) => {
    const rows = await this.statements.rows<ConnectorEntity>(this.readAll);
    return readers.map(() => rows);
  });

  constructor(
    protected readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {
    super();
    const { columns } = dataSource.getMetadata(ConnectorEntity);
    const names = columns.map(({ databaseName }) => databaseName).join(', ');
    const text = `select ${names} from connectors where deleted_at is null order by priority, name`;
    this.readAll = { name: 'connectors_all', text };
  }

  /** In the order in which they serve actions. */
  async all(tx?: Tx): Promise<readonly ConnectorEntity[]> {
    return tx ? await this.statements.rowsIn(tx, this.readAll) : await this.reads.submit(undefined);
  }

  async hasEverBeenOne(tx: Tx): Promise<boolean> {
    return await this.rows(tx).exists();
  }

  /** Changes a locked connector. Check results of another configuration are discarded. */
  async update(
    tx: Tx,
    before: ConnectorEntity,
    content: Partial<ConnectorEntity> & Pick<ConnectorEntity, 'name'>,
  ): Promise<ConnectorEntity> {
    const isSame = content.config === before.config;
    return await this.change(tx, before.id, { ...content, ...(!isSame && NOT_CHECKED_YET) });
  }

  /**
   * Stores the result of a check, unless the connector was changed or deleted during the check. A turn is a difference to
   * the last report, because a connector with a new configuration has no last check.
   */
  async recordCheck(
    tx: Tx,
    { id, version }: Pick<ConnectorEntity, 'id' | 'version'>,
    health: CheckedStatus,
    { message, latency_ms }: TargetTest,
  ): Promise<Turn | undefined> {
    const row = await this.find(id, tx);
    if (row?.version !== version) return undefined;
    const { enabled, health_message, unhealthy_reported_at: since } = row;
    // A test without the secrets must not hide that they are lost.
    if (!enabled && health_message === SECRETS_LOST) return undefined;
    const isUnhealthy = health === 'unhealthy';
    const isTurn = enabled && isUnhealthy !== (since !== null);
    await this.rows(tx).update(id, {
      health,
      health_message: message,
      latency_ms,
      last_checked_at: () => 'now()',
      ...(isTurn && { unhealthy_reported_at: isUnhealthy ? () => 'now()' : null }),
    });
    return isTurn ? { isUnhealthy, since } : undefined;
  }
}
