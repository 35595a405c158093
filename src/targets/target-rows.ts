import { Injectable } from '@nestjs/common';
import {
  Column,
  DataSource,
  type FindOptionsOrder,
  type FindOptionsWhere,
  IsNull,
  PrimaryColumn,
  type QueryDeepPartialEntity,
  type Repository,
} from 'typeorm';
import { RowTimes } from '../platform/database/columns.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import type { Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import {
  findOrder,
  findPage,
  type Page,
  type PageRequest,
  sortWords,
} from '../platform/paging/page.js';
import type { SealedColumn } from '../platform/secrets/secret-keys.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { Flag, GivenName, JsonObject, Text } from '../platform/validation/fields.js';
import type { Config } from './target-config.js';

/** A connector or a channel, with the contract of the columns that responses show. */
export class TargetRow extends RowTimes {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @GivenName()
  @Column({ type: 'text' })
  readonly name: string;

  @Text()
  @Column({ type: 'text' })
  readonly type: string;

  @Flag()
  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @JsonObject({ description: 'Configuration without secrets.' })
  @Column({ type: 'jsonb' })
  readonly config: Config;

  /** Encrypted secrets; null if the configuration has no secrets. */
  @Column({ type: 'text', nullable: true })
  readonly secrets: string | null;

  @Column({ type: 'text', array: true, default: [] })
  readonly secret_names: string[];

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly unhealthy_reported_at: Date | null;
}

export const TARGET_SORTS = sortWords('created_at', 'name');
export type TargetSort = (typeof TARGET_SORTS)[number];

const EMPTY = { enabled: false, config: {}, secrets: null, secret_names: [] };

@Injectable()
export abstract class TargetRows<Row extends TargetRow> {
  protected abstract readonly entity: new () => Row;
  abstract readonly subject: 'connector' | 'notification_channel';
  protected readonly alsoEmpty: QueryDeepPartialEntity<Row> = {};
  protected readonly notDeleted = { deleted_at: IsNull() } as FindOptionsWhere<Row>;

  constructor(
    protected readonly dataSource: DataSource,
    protected readonly box: SecretBox,
  ) {}

  async list(range: PageRequest, sort: readonly TargetSort[]): Promise<Page<Row>> {
    const columns = { created_at: 'created_at', name: 'name' } as const;
    const order = findOrder<TargetRow, keyof typeof columns>(sort, columns, 'id');
    const found = { where: this.notDeleted, order: order as FindOptionsOrder<Row> };
    return await findPage(this.rows(), range, found);
  }

  async row(id: string, tx?: Tx): Promise<Row | null> {
    if (!isUuid(id)) return null;
    const lock = tx && ({ mode: 'pessimistic_write' } as const);
    return await this.rows(tx).findOne({ where: { id, ...this.notDeleted }, lock });
  }

  async get(id: string, tx?: Tx): Promise<Row> {
    const row = await this.row(id, tx);
    if (row) return row;
    throw new NotFoundError(
      this.subject.replace('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    );
  }

  async insert(
    tx: Tx,
    row: QueryDeepPartialEntity<Row> & Pick<TargetRow, 'id' | 'name'>,
  ): Promise<Row> {
    await this.unlessTaken(row.name, () => this.rows(tx).insert(row));
    return await this.reread(tx, row.id);
  }

  /** Keeps the row, because other rows refer to it. Clears the configuration, which may contain a secret. */
  async markDeleted(tx: Tx, id: string): Promise<void> {
    await this.rows(tx).update(id, { deleted_at: () => 'now()', ...EMPTY, ...this.alsoEmpty });
  }

  async change(
    tx: Tx,
    id: string,
    change: QueryDeepPartialEntity<Row> & Pick<TargetRow, 'name'>,
  ): Promise<Row> {
    const versions = { version: () => 'version + 1', updated_at: () => 'now()' };
    await this.unlessTaken(change.name, () => this.rows(tx).update(id, { ...change, ...versions }));
    return await this.reread(tx, id);
  }

  open({ id, config, secrets }: Pick<Row, 'id' | 'config' | 'secrets'>): Config {
    if (secrets === null) return config;
    const opened = this.box.open(secrets, `${this.subject}:${id}`);
    return { ...config, ...(JSON.parse(opened) as Config) };
  }

  /** Encrypts secrets for one target. They cannot be decrypted for another target. */
  seal(id: string, secrets: Config): string {
    return this.box.seal(JSON.stringify(secrets), `${this.subject}:${id}`);
  }

  protected rows(tx?: Tx): Repository<Row> {
    return (tx ?? this.dataSource).getRepository(this.entity);
  }

  private async reread(tx: Tx, id: string): Promise<Row> {
    return await this.rows(tx).findOneByOrFail({ id } as FindOptionsWhere<Row>);
  }

  private unlessTaken<T>(name: string, write: () => Promise<T>): Promise<T> {
    const message = `A ${this.subject.replace('_', ' ')} named ${name} already exists.`;
    const taken = () => new AppError('conflict', message);
    return mapConstraints({ [`uq_${this.subject}s_name`]: taken }, write);
  }
}

/** The SQL of "A lost key" in docs/operations.md stores this text, and `src/attention` searches for it. */
export const SECRETS_LOST = 'Its secrets were lost with their key. Set new secrets and enable it.';

export function sealedSecretsOf(table: string, subject: string): SealedColumn {
  const context = ({ id }: Readonly<Record<string, string>>) => `${subject}:${id}`;
  return { table, column: 'secrets', id: ['id'], where: 'secrets is not null', context };
}

export const CONNECTOR_SECRETS = sealedSecretsOf('connectors', 'connector');
