// SQL: one named read of all sources, on which all receipts depend.
import { Injectable, Logger } from '@nestjs/common';
import { columnsOf } from '../../platform/database/columns.js';
import { Statements } from '../../platform/database/statements.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';
import {
  type ReceivingSecret,
  type ReceivingSource,
  SOURCE_NAME,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

/** A secret can be decrypted only for its source. */
const contextOf = (source: string): string => `webhook:${source}`;

export const WEBHOOK_SECRETS: readonly SealedColumn[] = ['secret', 'previous_secret'].map(
  (column) => ({
    table: 'webhook_sources',
    column,
    id: ['source'],
    where: `${column} is not null`,
    context: ({ source }) => contextOf(source!),
  }),
);

const VALID_MS = 500;

const ALL = {
  name: 'webhook_sources_all',
  text: `select ${columnsOf(WebhookSourceEntity, []).join(', ')} from webhook_sources`,
};

type Sources = ReadonlyMap<string, ReceivingSource>;

/** Caches all sources, so that receipts need no query. */
@Injectable()
export class SourceDirectory {
  private readonly log = new Logger(SourceDirectory.name);
  private sources: Promise<Sources> | undefined;
  private readAt = 0;
  /** Encrypted secrets whose failure is in the log. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly box: SecretBox,
  ) {}

  /** Returns the source, even if it is disabled. Throws if the database does not respond. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    return SOURCE_NAME.test(name) ? (await this.valid()).get(name) : undefined;
  }

  async enabledNames(): Promise<string[]> {
    const sources = await this.valid();
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  forget(): void {
    this.sources = undefined;
  }

  seal(source: string, secret: string): string {
    return this.box.seal(secret, contextOf(source));
  }

  /** Returns `undefined` if there is no secret, or the secret cannot be decrypted. */
  open(source: string, sealed: string | null): string | undefined {
    try {
      return sealed === null ? undefined : this.box.open(sealed, contextOf(source));
    } catch {
      return undefined;
    }
  }

  private valid(): Promise<Sources> {
    const now = performance.now();
    if (this.sources && now - this.readAt < VALID_MS) return this.sources;
    const sources = this.read().catch((error: unknown) => {
      if (this.sources === sources) this.forget();
      throw error;
    });
    this.readAt = now;
    this.sources = sources;
    return sources;
  }

  private async read(): Promise<Sources> {
    const rows = await this.statements.rows<WebhookSourceEntity>(ALL);
    return new Map(rows.map((row) => [row.source, this.receiving(row)]));
  }

  private receiving({ secret, previous_secret, ...row }: WebhookSourceEntity): ReceivingSource {
    const secrets = [
      ...this.usable(row.source, secret),
      ...this.usable(row.source, previous_secret, row.previous_secret_until!),
    ];
    return { ...row, secrets };
  }

  private usable(source: string, sealed: string | null, until?: Date): ReceivingSecret[] {
    const value = this.open(source, sealed);
    if (value !== undefined) return [{ value, until }];
    if (sealed !== null && !this.unreadable.has(sealed)) {
      this.unreadable.add(sealed);
      this.log.error({ source }, 'A secret of a webhook source cannot be decrypted: set a new one');
    }
    return [];
  }
}
