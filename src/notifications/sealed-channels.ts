import { Injectable } from '@nestjs/common';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';
import {
  UnknownSecretKeyError,
  UnreadableSecretError,
} from '../platform/secrets/secrets.errors.js';
import type { Config } from '../targets/target-config.js';
import { SealedConfig, sealedSecretsOf } from '../targets/target-secrets.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';

/** Time for which the previous secret stays valid, so that the receiver can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type Channel<Name extends keyof NotificationChannelEntity> = Pick<NotificationChannelEntity, Name>;
export type FormerSecret = Channel<'former_secret' | 'former_secret_until'>;

const OWNER = 'notification_channel';
const contextOfFormer = (id: string) => `${OWNER}:${id}:former`;

/** Seals configurations of channels and their previous secrets. */
@Injectable()
export class SealedChannels extends SealedConfig {
  protected override readonly owner = OWNER;

  sealFormer(id: string, secret: string, now: Date): FormerSecret {
    return {
      former_secret: this.box.seal(secret, contextOfFormer(id)),
      former_secret_until: new Date(now.getTime() + OVERLAP_MS),
    };
  }

  /** `undefined` if it has expired or the keys cannot decrypt it. The current secret works without it. */
  openFormer({ id, ...channel }: FormerSecret & Channel<'id'>, now: Date): string | undefined {
    const { former_secret, former_secret_until } = channel;
    if (!former_secret || !former_secret_until || former_secret_until <= now) return undefined;
    return unlessUnreadable(() => this.box.open(former_secret, contextOfFormer(id)));
  }

  /** `undefined` if the keys cannot decrypt the secrets. */
  openIfReadable(id: string, channel: Channel<'config' | 'secrets'>): Config | undefined {
    return unlessUnreadable(() => this.open(id, channel));
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

/** Columns with sealed secrets of channels. */
export const CHANNEL_SECRETS: readonly SealedColumn[] = [
  sealedSecretsOf('notification_channels', OWNER),
  {
    table: 'notification_channels',
    column: 'former_secret',
    id: ['id'],
    where: 'former_secret is not null',
    context: ({ id }) => contextOfFormer(id!),
  },
];
