import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';

/** Time for which the previous secret stays valid, so that the sender can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type StoredSecrets = Pick<
  WebhookSourceEntity,
  'secret' | 'previous_secret' | 'previous_secret_until'
>;

export interface SecretChange {
  readonly secret?: string;
  readonly revoke_old_secret?: boolean;
}

const NO_PREVIOUS = { previous_secret: null, previous_secret_until: null };
export const NO_SECRETS: StoredSecrets = { secret: null, ...NO_PREVIOUS };

/** Encrypts the secrets of sources. A secret can be decrypted only for its source. */
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
