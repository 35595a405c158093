// SQL: the read of all connectors, which every action request needs.
import { Injectable, Logger } from '@nestjs/common';
import { join } from 'node:path';
import { Column, DataSource, Entity } from 'typeorm';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { ComponentStatus } from '../platform/health-components.js';
import { UnreachableError } from '../platform/net/net.errors.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { TypesByName } from '../targets/target-check.js';
import { TargetRow, TargetRows } from '../targets/target-rows.js';
import { actionsOf, type Connector, connectorOf, type ConnectorType } from './connector-type.js';

const UNREADABLE = 'The secrets of the connector cannot be decrypted; see the log.';

export const DEFAULT_PRIORITY = 100;

@Entity('connectors')
export class ConnectorEntity extends TargetRow {
  @Column({ type: 'integer' })
  readonly priority: number;

  /** Result of the last check. Null before the first check, like the next three columns. */
  @Column({ type: 'text', nullable: true })
  readonly health: Exclude<ComponentStatus, 'disabled'> | null;

  @Column({ type: 'text', nullable: true })
  readonly health_message: string | null;

  @Column({ type: 'integer', nullable: true })
  readonly latency_ms: number | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_checked_at: Date | null;
}

export const CONNECTOR_TYPES = new TypesByName<ConnectorType>(join(__dirname, 'types'));

type Typed = Pick<ConnectorEntity, 'type'>;

/** True for a simulator while a real connector exists, enabled or not: a simulated action would look completed. */
export function standsBy(row: Typed, all: readonly Typed[]): boolean {
  const isStandIn = ({ type }: Typed) => CONNECTOR_TYPES.find(type)?.simulate !== undefined;
  return isStandIn(row) && !all.every(isStandIn);
}

export const servingOf = (rows: readonly ConnectorEntity[]): ConnectorEntity[] =>
  rows.filter((row) => row.enabled && CONNECTOR_TYPES.find(row.type) && !standsBy(row, rows));

function provides({ type: name, config }: ConnectorEntity): readonly ActionTypeName[] {
  const type = CONNECTOR_TYPES.named(name);
  return type.provides?.(config) ?? actionsOf(type);
}

/** Reads the connectors from the database each time, so that every replica sees changes immediately. */
@Injectable()
export class ConnectorRegistry extends TargetRows<ConnectorEntity> {
  protected readonly entity = ConnectorEntity;
  readonly subject = 'connector';
  private readonly logger = new Logger(ConnectorRegistry.name);
  private readonly readAll: Statement;
  private readonly reads = new Batcher<undefined, readonly ConnectorEntity[]>(async (readers) => {
    const rows = await this.statements.rows<ConnectorEntity>(this.readAll);
    return readers.map(() => rows);
  });
  /** Instances keep their circuit breakers while `state` is unchanged. A restored backup may repeat a version, but not a time. */
  private readonly instances = new Map<string, { state: string; connector: Connector }>();

  constructor(
    dataSource: DataSource,
    box: SecretBox,
    private readonly statements: Statements,
    private readonly http: OutboundHttp,
    private readonly smtp: OutboundSmtp,
  ) {
    super(dataSource, box);
    const { columns } = dataSource.getMetadata(ConnectorEntity);
    const names = columns.map(({ databaseName }) => databaseName).join(', ');
    const text = `select ${names} from connectors where deleted_at is null order by priority, name`;
    this.readAll = { name: 'connectors_all', text };
  }

  async all(tx?: Tx): Promise<readonly ConnectorEntity[]> {
    return tx ? await this.statements.rowsIn(tx, this.readAll) : await this.reads.submit(undefined);
  }

  async providerOf(type: ActionTypeName, id?: string): Promise<Connector | undefined> {
    return (await this.providersIn())(type, id);
  }

  /** Several connectors may provide an action. The connector with the lowest priority serves, then the first by name. */
  async providersIn(tx?: Tx) {
    const serving = await this.serving(tx);
    return (type: ActionTypeName, id?: string): Connector | undefined => {
      const isMeant = (row: ConnectorEntity) => id === undefined || row.id === id;
      const row = serving.find((row) => isMeant(row) && provides(row).includes(type));
      return row && this.connectorOf(row);
    };
  }

  async find(id: string): Promise<Connector | undefined> {
    const row = await this.row(id);
    return row ? this.connectorOf(row) : undefined;
  }

  async availableTypes(): Promise<ReadonlySet<ActionTypeName>> {
    return new Set((await this.serving()).flatMap(provides));
  }

  connectorOf(row: ConnectorEntity): Connector {
    const known = this.instances.get(row.id);
    const state = `${row.version} ${row.updated_at.getTime()}`;
    if (known?.state === state) return known.connector;
    const connector = this.connect(row);
    this.instances.set(row.id, { state, connector });
    return connector;
  }

  private async serving(tx?: Tx): Promise<ConnectorEntity[]> {
    const rows = await this.all(tx);
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.instances.keys()) if (!ids.has(id)) this.instances.delete(id);
    return servingOf(rows);
  }

  /** If the stored configuration is unusable, all operations of the connector fail with the reason. */
  private connect(row: ConnectorEntity): Connector {
    const type = CONNECTOR_TYPES.named(row.type);
    const outbound = { http: this.http, smtp: this.smtp };
    try {
      return connectorOf(type, row, this.open(row), outbound);
    } catch (err) {
      this.logger.error(
        { err, connector: row.name },
        'A connector cannot be used: set its secrets again',
      );
      const fail = () => {
        throw new UnreachableError(UNREADABLE, { temporary: false });
      };
      return connectorOf({ ...type, connect: () => fail }, row, row.config, outbound);
    }
  }
}
