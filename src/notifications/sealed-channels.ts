import { Injectable } from '@nestjs/common';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';
import { SealedConfig, sealedSecretsOf } from '../targets/target-secrets.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';

/** Time for which the previous secret stays valid, so that the receiver can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type Channel<Name extends keyof NotificationChannelEntity> = Pick<NotificationChannelEntity, Name>;
export type FormerSecret = Channel<'former_secret' | 'former_secret_until'>;

const OWNER = 'notification_channel';
const contextOfFormer = (id: string) => `${OWNER}:${id}:former`;

@Injectable()
export class SealedChannels extends SealedConfig {
  protected override readonly owner = OWNER;

  sealFormer(id: string, secret: string, now: Date): FormerSecret {
    return {
      former_secret: this.box.seal(secret, contextOfFormer(id)),
      former_secret_until: new Date(now.getTime() + OVERLAP_MS),
    };
  }

  /** `undefined` if there is none or if it has expired. */
  openFormer({ id, ...channel }: FormerSecret & Channel<'id'>, now: Date): string | undefined {
    const { former_secret, former_secret_until } = channel;
    if (!former_secret || !former_secret_until || former_secret_until <= now) return undefined;
    return this.box.open(former_secret, contextOfFormer(id));
  }
}

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
