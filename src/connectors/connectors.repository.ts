// SQL for the read of all connectors, which every action request needs.
import { Injectable } from '@nestjs/common';
import { DataSource, type QueryDeepPartialEntity } from 'typeorm';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { TargetRows } from '../targets/target-rows.js';
import { ConnectorEntity } from './connector.entity.js';

@Injectable()
export class ConnectorsRepository extends TargetRows<ConnectorEntity> {
  protected readonly entity = ConnectorEntity;
  readonly subject = 'connector';
  private readonly readAll: Statement;
  /** Concurrent reads share one statement, which starts after the last of these reads was requested. */
  private readonly reads = new Batcher<undefined, readonly ConnectorEntity[]>(async (readers) => {
    const rows = await this.statements.rows<ConnectorEntity>(this.readAll);
    return readers.map(() => rows);
  });

  constructor(
    protected readonly dataSource: DataSource,
    protected readonly box: SecretBox,
    private readonly statements: Statements,
  ) {
    super();
    const { columns } = dataSource.getMetadata(ConnectorEntity);
    const names = columns.map(({ databaseName }) => databaseName).join(', ');
    const text = `select ${names} from connectors where deleted_at is null order by priority, name`;
    this.readAll = { name: 'connectors_all', text };
  }

  async all(tx?: Tx): Promise<readonly ConnectorEntity[]> {
    return tx ? await this.statements.rowsIn(tx, this.readAll) : await this.reads.submit(undefined);
  }

  async hasEverBeenOne(): Promise<boolean> {
    return await this.rows().exists();
  }

  async recordCheck(
    tx: Tx,
    id: string,
    check: QueryDeepPartialEntity<ConnectorEntity>,
  ): Promise<void> {
    await this.rows(tx).update(id, { ...check, last_checked_at: () => 'now()' });
  }
}
