import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { CheckedStatus, CheckResult, SealedConnector } from './connector.js';
import type { Config } from './config/config-schema.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly config: Config;
  readonly secrets: string | null;
  readonly secret_names: string[];
  readonly version: number;
  readonly health: CheckedStatus | null;
  readonly health_message: string | null;
  readonly latency_ms: number | null;
  readonly last_checked_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface ConnectorContent {
  readonly name: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly config: Config;
  readonly sealed: string | undefined;
  readonly secretNames: readonly string[];
}

export const CONNECTOR_SORTS = ['-created_at', 'created_at', '-name', 'name'] as const;
export type ConnectorSort = (typeof CONNECTOR_SORTS)[number];

const ORDERS: Readonly<Record<ConnectorSort, string>> = {
  '-created_at': 'created_at desc, id desc',
  created_at: 'created_at, id',
  '-name': 'name desc',
  name: 'name',
};

const COLUMNS = `id, name, type, enabled, priority, config, secrets, secret_names, version, health, health_message,
  latency_ms, last_checked_at, created_at, updated_at`;
const LIVING = `connectors where deleted_at is null`;

const FOUND_BY_CHECK = ['health', 'health_message', 'latency_ms', 'last_checked_at'];
const IS_AS_BEFORE = 'config = $5::jsonb and secrets is not distinct from $6';

@Injectable()
export class ConnectorsRepository {
  constructor(private readonly statements: Statements) {}

  async list(request: PageRequest, sort: ConnectorSort): Promise<Page<SealedConnector>> {
    const text = `select ${COLUMNS} from ${LIVING} order by ${ORDERS[sort]} limit $1 offset $2`;
    const page = { name: `connectors_list_${sort}`, text };
    const count = {
      name: 'connectors_count',
      text: `select count(*)::int as total from ${LIVING}`,
    };
    const [rows, [counted]] = await Promise.all([
      this.statements.rows<Row>(page, [request.per_page, (request.page - 1) * request.per_page]),
      this.statements.rows<{ total: number }>(count),
    ]);
    return { items: rows.map(recordOf), total: counted!.total };
  }

  /** All of them, in the order in which they are asked. */
  async all(): Promise<SealedConnector[]> {
    const text = `select ${COLUMNS} from ${LIVING} order by priority, name`;
    return (await this.statements.rows<Row>({ name: 'connectors_all', text })).map(recordOf);
  }

  async findById(id: string): Promise<SealedConnector | undefined> {
    const text = `select ${COLUMNS} from ${LIVING} and id = $1`;
    const [row] = await this.statements.rows<Row>({ name: 'connectors_find', text }, [id]);
    return row && recordOf(row);
  }

  async lockById(tx: Tx, id: string): Promise<SealedConnector | undefined> {
    const text = `select ${COLUMNS} from ${LIVING} and id = $1 for update`;
    const [row] = await this.statements.rowsIn<Row>(tx, { name: 'connectors_lock', text }, [id]);
    return row && recordOf(row);
  }

  async insert(
    tx: Tx,
    id: string,
    type: string,
    content: ConnectorContent,
  ): Promise<SealedConnector> {
    const text = `
      insert into connectors (id, type, name, enabled, priority, config, secrets, secret_names)
      values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8) returning ${COLUMNS}`;
    const values = [id, type, ...valuesOf(content)];
    const rows = await this.statements.rowsIn<Row>(tx, { name: 'connectors_insert', text }, values);
    return recordOf(rows[0]!);
  }

  /** For the very first connector: nothing when there is or ever was one. */
  async insertFirst(tx: Tx, id: string, type: string, content: ConnectorContent): Promise<boolean> {
    const text = `
      insert into connectors (id, type, name, enabled, priority, config, secrets, secret_names)
      select $1, $2, $3, $4, $5, $6::jsonb, $7, $8 where not exists (select 1 from connectors) returning id`;
    const values = [id, type, ...valuesOf(content)];
    const statement = { name: 'connectors_insert_first', text };
    return (await this.statements.rowsIn(tx, statement, values)).length > 0;
  }

  /** What the last check found was about the connector as it was before. */
  async update(tx: Tx, id: string, content: ConnectorContent): Promise<SealedConnector> {
    const text = `
      update connectors set name = $2, enabled = $3, priority = $4, config = $5::jsonb, secrets = $6, secret_names = $7,
        version = version + 1, updated_at = now(),
        ${FOUND_BY_CHECK.map((column) => `${column} = case when ${IS_AS_BEFORE} then ${column} end`).join(', ')}
      where id = $1 and deleted_at is null returning ${COLUMNS}`;
    const values = [id, ...valuesOf(content)];
    const rows = await this.statements.rowsIn<Row>(tx, { name: 'connectors_update', text }, values);
    return recordOf(rows[0]!);
  }

  /** The row stays, for what refers to it, but its secrets go. */
  async markDeleted(tx: Tx, id: string): Promise<void> {
    const text = `update connectors set deleted_at = now(), enabled = false, secrets = null, secret_names = '{}' where id = $1`;
    await this.statements.rowsIn(tx, { name: 'connectors_mark_deleted', text }, [id]);
  }

  /** The health before, or undefined when the connector was changed or deleted while it was checked. */
  async recordCheck(
    tx: Tx,
    { id, version }: Pick<SealedConnector, 'id' | 'version'>,
    { status, message, latencyMs }: CheckResult,
  ): Promise<{ readonly before: CheckedStatus | null } | undefined> {
    const text = `
      with before as (
        select id, health from ${LIVING} and id = $1 and version = $2 for update)
      update connectors c set health = $3, health_message = $4, latency_ms = $5, last_checked_at = now()
        from before where c.id = before.id returning before.health as before`;
    const values = [id, version, status, message, latencyMs];
    const statement = { name: 'connectors_record_check', text };
    const rows = await this.statements.rowsIn<{ before: CheckedStatus | null }>(
      tx,
      statement,
      values,
    );
    return rows[0];
  }
}

function valuesOf(content: ConnectorContent): unknown[] {
  const { name, enabled, priority, config, sealed, secretNames } = content;
  return [name, enabled, priority, JSON.stringify(config), sealed ?? null, secretNames];
}

function recordOf(row: Row): SealedConnector {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    enabled: row.enabled,
    priority: row.priority,
    config: row.config,
    secretNames: row.secret_names,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.secrets !== null && { sealed: row.secrets }),
    ...(row.health && { health: row.health }),
    ...(row.health_message !== null && { healthMessage: row.health_message }),
    ...(row.latency_ms !== null && { latencyMs: row.latency_ms }),
    ...(row.last_checked_at && { lastCheckedAt: row.last_checked_at }),
  };
}
