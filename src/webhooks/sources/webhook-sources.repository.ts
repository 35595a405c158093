// SQL: the read of all sources, on which all receipts depend.
import { findOrder, sortWords, type Page, type PageRequest } from '../../platform/paging/page.js';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type WebhookSource, WebhookSourceEntity } from './webhook-source.entity.js';

/** Columns that a change writes. */
export type SourceContent = Omit<
  WebhookSourceEntity,
  'source' | 'version' | 'created_by' | 'created_at' | 'updated_at'
>;

type NewSource = SourceContent & Pick<WebhookSourceEntity, 'source' | 'created_by'>;

export const WEBHOOK_SOURCE_SORTS = sortWords('created_at', 'source');
export type WebhookSourceSort = (typeof WEBHOOK_SOURCE_SORTS)[number];

const SORT_COLUMNS = { created_at: 'created_at', source: 'source' } as const;

@Injectable()
export class WebhookSourcesRepository {
  private readonly columns: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {
    const { columns } = dataSource.getMetadata(WebhookSourceEntity);
    this.columns = columns.map(({ databaseName }) => databaseName).join(', ');
  }

  async list(
    request: PageRequest,
    sort: readonly WebhookSourceSort[],
  ): Promise<Page<WebhookSourceEntity>> {
    const [items, total] = await this.dataSource.getRepository(WebhookSourceEntity).findAndCount({
      order: findOrder(sort, SORT_COLUMNS, 'source'),
      take: request.per_page,
      skip: (request.page - 1) * request.per_page,
    });
    return { items, total };
  }

  async all(): Promise<WebhookSourceEntity[]> {
    const text = `select ${this.columns} from webhook_sources`;
    return await this.statements.rows<WebhookSourceEntity>({ name: 'webhook_sources_all', text });
  }

  async find(source: string, tx?: Tx): Promise<WebhookSourceEntity | undefined> {
    const rows = (tx ?? this.dataSource).getRepository(WebhookSourceEntity);
    return (await rows.findOneBy({ source })) ?? undefined;
  }

  async lock(tx: Tx, source: string): Promise<WebhookSourceEntity | undefined> {
    const row = await tx
      .getRepository(WebhookSourceEntity)
      .findOne({ where: { source }, lock: { mode: 'pessimistic_write' } });
    return row ?? undefined;
  }

  async insert(tx: Tx, source: NewSource): Promise<WebhookSourceEntity> {
    await tx.getRepository(WebhookSourceEntity).insert(source);
    return await this.read(tx, source.source);
  }

  /** The caller has locked the source. */
  async update(tx: Tx, source: string, content: SourceContent): Promise<WebhookSourceEntity> {
    await tx.getRepository(WebhookSourceEntity).update(source, {
      ...content,
      version: () => 'version + 1',
      updated_at: () => 'now()',
    });
    return await this.read(tx, source);
  }

  async delete(tx: Tx, source: string): Promise<void> {
    await tx.getRepository(WebhookSourceEntity).delete(source);
  }

  private async read(tx: Tx, source: string): Promise<WebhookSourceEntity> {
    return await tx.getRepository(WebhookSourceEntity).findOneByOrFail({ source });
  }
}

/** Leaves out the secrets, and the end of a previous secret that has expired. */
export function withoutSecrets(
  { secret: _, previous_secret: __, ...source }: WebhookSourceEntity,
  now: Date,
): WebhookSource {
  const { previous_secret_until: until } = source;
  return { ...source, previous_secret_until: until && until > now ? until : null };
}
