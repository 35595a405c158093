// SQL: one named read of all sources, on which all receipts depend.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { columnsOf } from '../../platform/database/columns.js';
import { Statements } from '../../platform/database/statements.js';
import { SealedSecrets } from './sealed-secrets.js';
import {
  type ReceivingSecret,
  type ReceivingSource,
  SOURCE_NAME,
  type WebhookSource,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

/** Maximum age of a read. A change takes effect within a second. */
const VALID_MS = 500;

const ALL = {
  name: 'webhook_sources_all',
  text: `select ${columnsOf(WebhookSourceEntity, []).join(', ')} from webhook_sources`,
};

/** Caches all sources with their secrets, so that receipts need no query. At most one read runs at a time. */
@Injectable()
export class SourceDirectory {
  private readonly log = new Logger(SourceDirectory.name);
  private sources: ReadonlyMap<string, ReceivingSource> = new Map();
  /** Start of the read of `sources`. */
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;
  private changedAt = -Infinity;
  /** Encrypted secrets whose failure is in the log. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly secrets: SealedSecrets,
  ) {}

  /** Returns the source, even if it is disabled. Throws if the database does not respond. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    return SOURCE_NAME.test(name) ? (await this.valid()).get(name) : undefined;
  }

  async enabledNames(): Promise<string[]> {
    const sources = await this.valid();
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  /** Invalidates reads that started before this call, because this process changed a source. */
  forget(): void {
    this.changedAt = performance.now();
  }

  /** Repeats the read if the current read started too early. */
  private async valid(): Promise<ReadonlyMap<string, ReceivingSource>> {
    const oldest = Math.max(performance.now() - VALID_MS, this.changedAt);
    while (this.readAt <= oldest) {
      this.reading ??= this.read().finally(() => {
        this.reading = undefined;
      });
      await this.reading;
    }
    return this.sources;
  }

  private async read(): Promise<void> {
    const readAt = performance.now();
    const rows = await this.statements.rows<WebhookSourceEntity>(ALL);
    this.sources = new Map(rows.map((row) => [row.source, this.receiving(row)]));
    this.readAt = readAt;
  }

  private receiving(row: WebhookSourceEntity): ReceivingSource {
    const { source, secret, previous_secret, previous_secret_until } = row;
    const secrets = [
      ...this.open(source, secret),
      ...this.open(source, previous_secret, previous_secret_until!),
    ];
    return { ...withoutSecrets(row, this.clock.now()), secrets };
  }

  private open(source: string, sealed: string | null, until?: Date): ReceivingSecret[] {
    const value = this.secrets.open(source, sealed);
    if (value !== undefined) return [{ value, until }];
    if (sealed !== null && !this.unreadable.has(sealed)) {
      this.unreadable.add(sealed);
      this.log.error({ source }, 'A secret of a webhook source cannot be decrypted: set a new one');
    }
    return [];
  }
}

/** Removes the secrets, and the end of a previous secret that has expired. */
export function withoutSecrets(
  { secret: _, previous_secret: __, ...source }: WebhookSourceEntity,
  now: Date,
): WebhookSource {
  const { previous_secret_until: until } = source;
  return { ...source, previous_secret_until: until && until > now ? until : null };
}
