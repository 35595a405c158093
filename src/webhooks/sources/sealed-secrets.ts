import { Injectable, Logger } from '@nestjs/common';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';
import {
  UnknownSecretKeyError,
  UnreadableSecretError,
} from '../../platform/secrets/secrets.errors.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';

/** How long the secret before the present one stays valid, so that a sender can be changed in peace. */
export const OVERLAP_MS = 24 * 60 * 60 * 1_000;

export type StoredSecrets = Pick<
  WebhookSourceEntity,
  'secret' | 'previous_secret' | 'previous_secret_until'
>;

export interface SecretChange {
  readonly secret?: string;
  readonly revoke_old_secret?: boolean;
}

const NO_PREVIOUS = { previous_secret: null, previous_secret_until: null };

/** Seals the secrets of sources for storing. What was sealed for one source can be opened for no other. */
@Injectable()
export class SealedSecrets {
  constructor(private readonly box: SecretBox) {}

  ofNewSource(source: string, secret: string): StoredSecrets {
    return { secret: this.box.seal(secret, contextOf(source)), ...NO_PREVIOUS };
  }

  /** Undefined when there is none, or none that can be read: its key is gone, or somebody altered it. */
  open(source: string, sealed: string | null): string | undefined {
    if (sealed === null) return undefined;
    try {
      return this.box.open(sealed, contextOf(source));
    } catch (error) {
      if (error instanceof UnreadableSecretError || error instanceof UnknownSecretKeyError) {
        return undefined;
      }
      throw error;
    }
  }

  /** The same secrets, sealed with the first key. A secret that cannot be read is left out. */
  reseal(stored: StoredSecrets & Pick<WebhookSourceEntity, 'source'>): StoredSecrets {
    const again = (sealed: string | null) => {
      const plain = this.open(stored.source, sealed);
      return plain === undefined ? null : this.box.seal(plain, contextOf(stored.source));
    };
    const previous_secret = again(stored.previous_secret);
    const { previous_secret_until } = stored;
    const previous = previous_secret ? { previous_secret, previous_secret_until } : NO_PREVIOUS;
    return { secret: again(stored.secret), ...previous };
  }

  /** The newest two are valid: with a new secret in the time of overlap, the oldest ends at once. */
  change(
    before: StoredSecrets & Pick<WebhookSourceEntity, 'source'>,
    { secret, revoke_old_secret = false }: SecretChange,
    now: Date,
  ): StoredSecrets {
    const present = this.open(before.source, before.secret);
    const kept: StoredSecrets = {
      secret: before.secret,
      previous_secret: before.previous_secret,
      previous_secret_until: before.previous_secret_until,
    };
    // No comparison in constant time: whoever may ask this may set the secret.
    const isNew = secret !== undefined && secret !== present;
    const after = isNew
      ? {
          ...kept,
          ...(present !== undefined && {
            previous_secret: before.secret,
            previous_secret_until: new Date(now.getTime() + OVERLAP_MS),
          }),
          secret: this.box.seal(secret, contextOf(before.source)),
        }
      : kept;
    return revoke_old_secret ? { ...after, ...NO_PREVIOUS } : after;
  }
}

export function contextOf(source: string): string {
  return `webhook:${source}`;
}

const IN_SOURCES = {
  table: 'webhook_sources',
  id: ['source'],
  context: ({ source }: Readonly<Record<string, string>>) => contextOf(source!),
};

/** Columns with sealed secrets of sources. */
export const WEBHOOK_SECRETS: readonly SealedColumn[] = [
  { ...IN_SOURCES, column: 'secret', where: 'secret is not null' },
  { ...IN_SOURCES, column: 'previous_secret', where: 'previous_secret is not null' },
];

/** Opens each sealed secret once, however often the sources are read. */
export class OpenedSecrets {
  private readonly logger = new Logger(OpenedSecrets.name);
  private inUse = new Map<string, readonly string[]>();
  private before = new Map<string, readonly string[]>();

  constructor(private readonly secrets: SealedSecrets) {}

  /** The one secret. None when there is none, or none that can be read: then nobody can sign with it. */
  open(source: string, sealed: string | null): readonly string[] {
    if (sealed === null) return [];
    // With the name: what somebody copied from another source in the database must not open here.
    const key = `${source} ${sealed}`;
    const opened = this.inUse.get(key) ?? this.before.get(key) ?? this.openAnew(source, sealed);
    this.inUse.set(key, opened);
    return opened;
  }

  /** Called before each read of all sources: what was not asked for since the last call is forgotten. */
  forgetUnused(): void {
    this.before = this.inUse;
    this.inUse = new Map();
  }

  private openAnew(source: string, sealed: string): readonly string[] {
    const opened = this.secrets.open(source, sealed);
    if (opened !== undefined) return [opened];
    this.logger.error({ source }, 'A secret of a webhook source cannot be read: set it anew');
    return [];
  }
}
