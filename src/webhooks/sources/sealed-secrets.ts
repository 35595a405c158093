import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';
import {
  UnknownSecretKeyError,
  UnreadableSecretError,
} from '../../platform/secrets/secrets.errors.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';

/** Time for which the previous secret stays valid, so that the sender can be reconfigured. */
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

/** Encrypts the secrets of sources. A secret can be decrypted only for its source. */
@Injectable()
export class SealedSecrets {
  constructor(private readonly box: SecretBox) {}

  ofNewSource(source: string, secret: string): StoredSecrets {
    return { secret: this.box.seal(secret, contextOf(source)), ...NO_PREVIOUS };
  }

  /** `undefined` if there is no secret, or if it cannot be decrypted because its key is lost or it was altered. */
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

  /** The newest two secrets are valid. */
  change(
    before: StoredSecrets & Pick<WebhookSourceEntity, 'source'>,
    { secret, revoke_old_secret = false }: SecretChange,
    now: Date,
  ): StoredSecrets {
    const current = this.open(before.source, before.secret);
    // The time of the comparison reveals nothing, because the caller may set the secret.
    const isNew = secret !== undefined && secret !== current;
    const { previous_secret, previous_secret_until } =
      isNew && current !== undefined
        ? {
            previous_secret: before.secret,
            previous_secret_until: new Date(now.getTime() + OVERLAP_MS),
          }
        : before;
    return {
      secret: isNew ? this.box.seal(secret, contextOf(before.source)) : before.secret,
      ...(revoke_old_secret ? NO_PREVIOUS : { previous_secret, previous_secret_until }),
    };
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
