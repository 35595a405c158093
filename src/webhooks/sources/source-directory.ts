// SQL: one named read of all sources, on which all receipts depend.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { columnsOf } from '../../platform/database/columns.js';
import { Statements } from '../../platform/database/statements.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';
import {
  type ReceivingSecret,
  type ReceivingSource,
  SOURCE_NAME,
  type WebhookSource,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

/** Time for which the previous secret stays valid, so that the sender can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type StoredSecrets = Pick<
  WebhookSourceEntity,
  'secret' | 'previous_secret' | 'previous_secret_until'
>;

interface SecretChange {
  readonly secret?: string;
  readonly revoke_old_secret?: boolean;
}

const NO_PREVIOUS = { previous_secret: null, previous_secret_until: null };
export const NO_SECRETS: StoredSecrets = { secret: null, ...NO_PREVIOUS };

/** A secret can be decrypted only for its source. */
@Injectable()
export class SealedSecrets {
  constructor(private readonly box: SecretBox) {}

  /** Returns `undefined` if there is no secret, or the secret cannot be decrypted. */
  open(source: string, sealed: string | null): string | undefined {
    try {
      return sealed === null ? undefined : this.box.open(sealed, contextOf(source));
    } catch {
      return undefined;
    }
  }

  /** The newest two secrets are valid. */
  change(
    before: StoredSecrets & Pick<WebhookSourceEntity, 'source'>,
    { secret, revoke_old_secret = false }: SecretChange,
    now: Date,
  ): StoredSecrets {
    const current = this.open(before.source, before.secret);
    // The comparison may take variable time, because the caller may set the secret.
    const isNew = secret !== undefined && secret !== current;
    const until = new Date(now.getTime() + OVERLAP_MS);
    const { previous_secret, previous_secret_until } =
      isNew && current !== undefined
        ? { previous_secret: before.secret, previous_secret_until: until }
        : before;
    return {
      secret: isNew ? this.box.seal(secret, contextOf(before.source)) : before.secret,
      ...(revoke_old_secret ? NO_PREVIOUS : { previous_secret, previous_secret_until }),
    };
  }
}

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

  forget(): void {
    this.sources = undefined;
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
