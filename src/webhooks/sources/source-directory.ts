import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { within } from '../../platform/concurrency/within.js';
import { UnavailableError } from '../../platform/errors/app-error.js';
import { OpenedSecrets, SealedSecrets } from './sealed-secrets.js';
import { WebhookSourcesRepository, sourceOf } from './webhook-sources.repository.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';
import { type ReceivingSecret, type ReceivingSource, SOURCE_NAME } from './webhook-source.js';

/**
 * How old a read may be to answer a receipt, from the start of the read to the arrival of the receipt. What changed has
 * to count within a second; the rest of that second is margin.
 */
const VALID_MS = 800;
/** A read of this age is still used, and made anew meanwhile: a busy source never makes a receipt wait. */
const REFRESH_MS = 400;
/** How old a read may be to say that there is no such source: another replica may have made it just now. */
const VALID_FOR_MISSING_MS = 50;
/** Shorter than a statement may take: a database that hangs must not hold every receipt for that long. */
const READ_TIMEOUT_MS = 3_000;

interface Snapshot {
  readonly sources: ReadonlyMap<string, ReceivingSource>;
  /** When the read began, by the monotonic clock. */
  readonly readAt: number;
}

/**
 * All sources with their secrets, as the database had them less than a second ago, so that not every receipt reads its
 * own. One read is under way at a time. Names that nobody registered cause at most 20 reads a second, since a read makes
 * them unknown for 50 ms; so does a read that failed.
 */
@Injectable()
export class SourceDirectory {
  private latest: Snapshot = { sources: new Map(), readAt: -Infinity };
  private failed: { readonly readAt: number; readonly error: unknown } | undefined;
  private underWay: Promise<Snapshot> | undefined;
  private changedAt = -Infinity;
  private readonly secrets: OpenedSecrets;

  constructor(
    private readonly rows: WebhookSourcesRepository,
    private readonly clock: Clock,
    sealed: SealedSecrets,
  ) {
    this.secrets = new OpenedSecrets(sealed);
  }

  /** Disabled ones, too. Throws when the database cannot say it. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    if (!SOURCE_NAME.test(name)) return undefined;
    const arrivedAt = performance.now();
    const { sources, readAt } = await this.readAfter(arrivedAt - VALID_MS);
    const known = sources.get(name);
    if (!known) {
      const confirmed = await this.readAfter(arrivedAt - VALID_FOR_MISSING_MS);
      return this.inForce(confirmed.sources.get(name));
    }
    // After a failure the snapshot grows too old, and the next receipt gets the error.
    if (readAt < arrivedAt - REFRESH_MS) this.read().catch(() => undefined);
    return this.inForce(known);
  }

  /** Throws when the database cannot say it. */
  async enabledNames(): Promise<string[]> {
    const { sources } = await this.readAfter(performance.now() - VALID_MS);
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  /** As it was the last time that the database could say it, however long ago: only to name it, never to admit it. */
  wasEnabled(name: string): boolean {
    return this.latest.sources.get(name)?.enabled === true;
  }

  /** This process changed a source: whoever asks from now on gets what a read says that begins now. */
  forget(): void {
    this.changedAt = performance.now();
  }

  /** A read that began later than that. One under way is waited for, and may have begun too early. */
  private async readAfter(moment: number): Promise<Snapshot> {
    const oldest = Math.max(moment, this.changedAt);
    let snapshot = this.latest;
    while (snapshot.readAt <= oldest) snapshot = await this.read();
    return snapshot;
  }

  private read(): Promise<Snapshot> {
    this.underWay ??= this.readAll().finally(() => {
      this.underWay = undefined;
    });
    return this.underWay;
  }

  private async readAll(): Promise<Snapshot> {
    const readAt = performance.now();
    if (this.failed && this.failed.readAt > readAt - VALID_FOR_MISSING_MS) throw this.failed.error;
    try {
      const rows = await within(READ_TIMEOUT_MS, this.rows.all(), failLate);
      this.failed = undefined;
      this.latest = { sources: this.received(rows), readAt };
      return this.latest;
    } catch (error) {
      this.failed = { readAt, error };
      throw error;
    }
  }

  private received(rows: readonly WebhookSourceEntity[]): Map<string, ReceivingSource> {
    const now = this.clock.now();
    this.secrets.forgetUnused();
    return new Map(
      rows.map((row) => {
        const { source, secret, previous_secret, previous_secret_until } = row;
        const secrets: ReceivingSecret[] = [
          ...this.secrets.open(source, secret).map((value) => ({ value })),
          ...this.secrets
            .open(source, previous_secret)
            .map((value) => ({ value, until: previous_secret_until ?? now })),
        ];
        return [source, { ...sourceOf(row, now), secrets }];
      }),
    );
  }

  /** Without a former secret that ended since the read. */
  private inForce(source: ReceivingSource | undefined): ReceivingSource | undefined {
    const now = this.clock.now();
    const isOver = ({ until }: ReceivingSecret): boolean => until !== undefined && until <= now;
    if (!source?.secrets.some(isOver)) return source;
    const secrets = source.secrets.filter((secret) => !isOver(secret));
    return { ...source, secrets, previousSecretUntil: undefined };
  }
}

function failLate(): never {
  throw new UnavailableError('The database does not answer.');
}
