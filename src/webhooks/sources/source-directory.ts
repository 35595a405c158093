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
/** Maximum age of a read that shows that a source does not exist. Another replica may just have created it. */
const VALID_FOR_MISSING_MS = 50;

const ALL = {
  name: 'webhook_sources_all',
  text: `select ${columnsOf(WebhookSourceEntity, []).join(', ')} from webhook_sources`,
};

interface Snapshot {
  readonly sources: ReadonlyMap<string, ReceivingSource>;
  /** Start of the read, by the monotonic clock. */
  readonly readAt: number;
}

/** All sources with their secrets, so that receipts do not read them. One read runs at a time. */
@Injectable()
export class SourceDirectory {
  private readonly log = new Logger(SourceDirectory.name);
  private latest: Snapshot = { sources: new Map(), readAt: -Infinity };
  private reading: Promise<Snapshot> | undefined;
  private changedAt = -Infinity;
  /** Encrypted secrets whose failure is in the log. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly secrets: SealedSecrets,
  ) {}

  /** Returns the source, also if it is disabled. Throws if the database does not answer. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    if (!SOURCE_NAME.test(name)) return undefined;
    const arrivedAt = performance.now();
    const known = (await this.readAfter(arrivedAt - VALID_MS)).get(name);
    return known ?? (await this.readAfter(arrivedAt - VALID_FOR_MISSING_MS)).get(name);
  }

  /** Throws if the database does not answer. */
  async enabledNames(): Promise<string[]> {
    const sources = await this.readAfter(performance.now() - VALID_MS);
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  /** This process changed a source, so only reads that start later count. */
  forget(): void {
    this.changedAt = performance.now();
  }

  /** Returns a read that started after the moment. The current read may have started earlier. */
  private async readAfter(moment: number): Promise<Snapshot['sources']> {
    const oldest = Math.max(moment, this.changedAt);
    let snapshot = this.latest;
    while (snapshot.readAt <= oldest) {
      this.reading ??= this.read().finally(() => {
        this.reading = undefined;
      });
      snapshot = await this.reading;
    }
    return snapshot.sources;
  }

  private async read(): Promise<Snapshot> {
    const readAt = performance.now();
    const rows = await this.statements.rows<WebhookSourceEntity>(ALL);
    const sources = new Map(rows.map((row) => [row.source, this.receiving(row)]));
    this.latest = { sources, readAt };
    return this.latest;
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

/** Leaves out the secrets, and the end of a previous secret that has expired. */
export function withoutSecrets(
  { secret: _, previous_secret: __, ...source }: WebhookSourceEntity,
  now: Date,
): WebhookSource {
  const { previous_secret_until: until } = source;
  return { ...source, previous_secret_until: until && until > now ? until : null };
}
