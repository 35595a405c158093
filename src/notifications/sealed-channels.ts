import { Injectable } from '@nestjs/common';
import type { Config } from '../connectors/config/config-schema.js';
import { SealedConfig } from '../connectors/config/sealed-config.js';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';
import {
  UnknownSecretKeyError,
  UnreadableSecretError,
} from '../platform/secrets/secrets.errors.js';
import type { SealedChannel } from './notification-channel.js';

/** How long the secret before the present one stays valid, so that a receiver can be changed in peace. */
export const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type Sealed = Pick<SealedChannel, 'config' | 'sealed'>;

const contextOf = (id: string) => `notification_channel:${id}`;
const contextOfFormer = (id: string) => `${contextOf(id)}:former`;

/** Configurations of channels, sealed as those of connectors are, and the secrets that they had before. */
@Injectable()
export class SealedChannels extends SealedConfig {
  sealFormer(id: string, secret: string): string {
    return this.box.seal(secret, contextOfFormer(id));
  }

  /** Undefined when nobody can read it any more: the present secret works without it. */
  openFormer(id: string, sealed: string): string | undefined {
    return unlessUnreadable(() => this.box.open(sealed, contextOfFormer(id)));
  }

  /** Undefined when nobody can read its secrets any more. */
  openIfReadable(id: string, { config, sealed }: Sealed): Config | undefined {
    return unlessUnreadable(() => this.open(id, { config, sealed }));
  }

  /** The configuration without its secrets where nobody can read them any more. */
  openReadable(id: string, channel: Sealed): Config {
    return this.openIfReadable(id, channel) ?? channel.config;
  }

  protected override contextOf(id: string): string {
    return contextOf(id);
  }
}

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableSecretError || error instanceof UnknownSecretKeyError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Where the secrets are stored. When the key that sealed them is lost they are discarded, and the channel is disabled: most
 * have nothing left to deliver with, and the others would deliver what nobody can verify.
 */
export const CHANNEL_SECRETS: readonly SealedColumn[] = [
  {
    table: 'notification_channels',
    column: 'secrets',
    id: ['id'],
    where: 'secrets is not null',
    context: ({ id }) => contextOf(id!),
    discard: `update notification_channels set secrets = null, secret_names = '{}', enabled = false,
      version = version + 1, updated_at = now()`,
  },
  {
    table: 'notification_channels',
    column: 'former_secret',
    id: ['id'],
    where: 'former_secret is not null',
    context: ({ id }) => contextOfFormer(id!),
    discard: `update notification_channels set former_secret = null, former_secret_until = null,
      version = version + 1, updated_at = now()`,
  },
];
