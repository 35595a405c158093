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

/**
 * All sources with their secrets, at most 800 ms old, so that receipts do not read them. One read runs at a time. Unknown names and failed
 * reads cause at most 20 reads per second.
 */
@Injectable()
export class SourceDirectory {
  private readonly log = new Logger(SourceDirectory.name);
  private latest: Snapshot = { sources: new Map(), readAt: -Infinity };
  private failed: { readonly readAt: number; readonly error: unknown } | undefined;
  private reading: Promise<Snapshot> | undefined;
  private changedAt = -Infinity;
  /** Decrypted secrets of the latest read, by name and encrypted secret. */
  private opened: ReadonlyMap<string, string | undefined> = new Map();

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
    if (!known) {
      const confirmed = await this.readAfter(arrivedAt - VALID_FOR_MISSING_MS);
      return this.withValidSecrets(confirmed.sources.get(name));
    }
    // After a failure, the snapshot expires and the next receipt gets the error.
    if (readAt < arrivedAt - REFRESH_MS) this.read().catch(() => undefined);
    return this.withValidSecrets(known);
  }

  /** Throws if the database does not answer. */
  async enabledNames(): Promise<string[]> {
    const { sources } = await this.readAfter(performance.now() - VALID_MS);
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  /** Whether the source was enabled at the last successful read. Only for the label of a metric. */
  wasEnabled(name: string): boolean {
    return this.latest.sources.get(name)?.enabled === true;
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
    if (this.failed && this.failed.readAt > readAt - VALID_FOR_MISSING_MS) throw this.failed.error;
    try {
      const rows = await within(READ_TIMEOUT_MS, this.rows.all(), () => {
        throw new UnavailableError('The database does not answer.');
      });
      this.failed = undefined;
      this.latest = { sources: this.received(rows), readAt };
      return this.latest;
    } catch (error) {
      this.failed = { readAt, error };
      throw error;
    }
  }

  private received(rows: readonly WebhookSourceEntity[]): Map<string, ReceivingSource> {
    const opened = new Map<string, string | undefined>();
    const open = (source: string, sealed: string | null, until?: Date): ReceivingSecret[] => {
      if (sealed === null) return [];
      // With the name, because a secret that was copied from another source must not open.
      const key = `${source} ${sealed}`;
      const value = this.opened.has(key) ? this.opened.get(key) : this.openNew(source, sealed);
      opened.set(key, value);
      return value === undefined ? [] : [{ value, until }];
    };
    const sources = rows.map((row) => {
      const { source, secret, previous_secret, previous_secret_until } = row;
      const secrets = [
        ...open(source, secret),
        ...open(source, previous_secret, previous_secret_until!),
      ];
      return [source, { ...withoutSecrets(row, this.clock.now()), secrets }] as const;
    });
    this.opened = opened;
    return new Map(sources);
  }

  private openNew(source: string, sealed: string): string | undefined {
    const value = this.secrets.open(source, sealed);
    if (value === undefined) {
      this.log.error({ source }, 'A secret of a webhook source cannot be decrypted: set a new one');
    }
    return value;
  }

  /** Leaves out a previous secret that expired after the read. */
  private withValidSecrets(source: ReceivingSource | undefined): ReceivingSource | undefined {
    const now = this.clock.now();
    const isValid = ({ until }: ReceivingSecret): boolean => until === undefined || until > now;
    if (!source || source.secrets.every(isValid)) return source;
    return {
      ...source,
      secrets: source.secrets.filter(isValid),
      previous_secret_until: null,
    };
  }
}
