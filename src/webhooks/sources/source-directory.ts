import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { within } from '../../platform/concurrency/within.js';
import { UnavailableError } from '../../platform/errors/app-error.js';
import { SealedSecrets } from './sealed-secrets.js';
import {
  type ReceivingSecret,
  type ReceivingSource,
  SOURCE_NAME,
  type WebhookSourceEntity,
} from './webhook-source.entity.js';
import { WebhookSourcesRepository, withoutSecrets } from './webhook-sources.repository.js';

/** Maximum age of a read that serves a receipt. A change takes effect within a second. */
const VALID_MS = 800;
/** After this age the next receipt starts a read in the background, so that no receipt of a busy source waits. */
const REFRESH_MS = 400;
/** Maximum age of a read that shows that a source does not exist. Another replica may just have created it. */
const VALID_FOR_MISSING_MS = 50;
/** Less than a statement may take, so that a hanging database does not block all receipts. */
const READ_TIMEOUT_MS = 3_000;

interface Snapshot {
  readonly sources: ReadonlyMap<string, ReceivingSource>;
  /** Start of the read, by the monotonic clock. */
  readonly readAt: number;
}

/** All sources with their secrets, at most 800 ms old, so that receipts do not read them. One read runs at a time. */
@Injectable()
export class SourceDirectory {
  private readonly log = new Logger(SourceDirectory.name);
  private latest: Snapshot = { sources: new Map(), readAt: -Infinity };
  private reading: Promise<Snapshot> | undefined;
  private changedAt = -Infinity;
  /** Encrypted secrets whose failure is in the log. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly rows: WebhookSourcesRepository,
    private readonly clock: Clock,
    private readonly secrets: SealedSecrets,
  ) {}

  /** Returns the source, also if it is disabled. Throws if the database does not answer. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    if (!SOURCE_NAME.test(name)) return undefined;
    const arrivedAt = performance.now();
    const { sources, readAt } = await this.readAfter(arrivedAt - VALID_MS);
    const known = sources.get(name);
    if (!known) return (await this.readAfter(arrivedAt - VALID_FOR_MISSING_MS)).sources.get(name);
    // After a failure, the snapshot expires and the next receipt gets the error.
    if (readAt < arrivedAt - REFRESH_MS) this.read().catch(() => undefined);
    return known;
  }

  /** Throws if the database does not answer. */
  async enabledNames(): Promise<string[]> {
    const { sources } = await this.readAfter(performance.now() - VALID_MS);
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  /** This process changed a source, so only reads that start later count. */
  forget(): void {
    this.changedAt = performance.now();
  }

  /** Returns a read that started after the moment. The current read may have started earlier. */
  private async readAfter(moment: number): Promise<Snapshot> {
    const oldest = Math.max(moment, this.changedAt);
    let snapshot = this.latest;
    while (snapshot.readAt <= oldest) snapshot = await this.read();
    return snapshot;
  }

  private read(): Promise<Snapshot> {
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async readAll(): Promise<Snapshot> {
    const readAt = performance.now();
    const rows = await within(READ_TIMEOUT_MS, this.rows.all(), () => {
      throw new UnavailableError('The database does not answer.');
    });
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
    if (sealed === null) return [];
    const value = this.secrets.open(source, sealed);
    if (value !== undefined) return [{ value, until }];
    if (!this.unreadable.has(sealed)) {
      this.unreadable.add(sealed);
      this.log.error({ source }, 'A secret of a webhook source cannot be decrypted: set a new one');
    }
    return [];
  }
}
