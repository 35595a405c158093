import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { unlessAborted, withDeadline } from '../platform/concurrency/within.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import { withDefaults } from '../targets/target-config.js';
import type { Outcome, PartlySent } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { ATTEMPT_MS } from './delivery-rules.js';
import type { Message } from './notification.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';
import { SealedChannels } from './sealed-channels.js';

const LATE = `No answer came within ${ATTEMPT_MS / 1_000} seconds.`;
const UNREADABLE = 'The secrets of the channel cannot be decrypted. Send new ones.';
const BROKEN = 'The attempt failed in the service. The log has the cause.';

/** Makes single attempts to send messages. */
@Injectable()
export class DeliveryAttempts {
  private readonly log = new Logger('Notifications');

  constructor(
    private readonly configs: SealedChannels,
    private readonly clock: Clock,
    private readonly http: OutboundHttp,
    private readonly smtp: OutboundSmtp,
  ) {}

  /** Throws only if `signal` is aborted before the end of the attempt. */
  async send(
    channel: NotificationChannelEntity,
    message: () => Message,
    signal = new AbortController().signal,
    partlySent?: PartlySent,
  ): Promise<Outcome> {
    // The service may have been rolled back to an earlier release.
    const unknown = `This release does not support channels of the type ${channel.type}.`;
    return await withDeadline(ATTEMPT_MS, signal, async (over) => {
      try {
        const type = CHANNEL_TYPES.find(channel.type);
        if (!type) return { kind: 'failed', why: unknown };
        const config = this.configs.openIfReadable(channel.id, channel);
        if (!config) return { kind: 'failed', why: UNREADABLE };
        const sent = type.send({
          config: withDefaults(type.config, config),
          formerSecret: this.configs.openFormer(channel, this.clock.now()),
          message: message(),
          partlySent,
          signal: over,
          http: this.http,
          smtp: this.smtp,
        });
        // A type that ignores the signal must not occupy the place.
        return await unlessAborted(over, sent);
      } catch (err) {
        signal.throwIfAborted();
        if (over.aborted) return { kind: 'failed', why: LATE };
        this.log.error({ err, channel: channel.name }, 'A notification could not be sent.');
        return { kind: 'failed', why: BROKEN };
      }
    });
  }
}
