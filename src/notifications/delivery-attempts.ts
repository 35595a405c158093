import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { unlessAborted, withDeadline } from '../platform/concurrency/within.js';
import { Settings } from '../platform/config/settings.js';
import { newId } from '../platform/ids.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import type { Outcome } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import type { PartlySent, PresentDelivery } from './delivery.js';
import type { Delivery } from './delivery.entity.js';
import { foldedMessage } from './messages/folded-message.js';
import type { SourceEvent } from './messages/define-event.js';
import { isEventName, type Message, messageOf } from './notification.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';
import { SealedChannels } from './sealed-channels.js';
import { ATTEMPT_MS } from './delivery-rules.js';

const LATE = `No answer came within ${ATTEMPT_MS / 1_000} seconds.`;
const UNREADABLE = 'The secrets of the channel cannot be decrypted. Send new ones.';
const BROKEN = 'The attempt failed in the service. The log has the cause.';

/** Makes single attempts to send messages. */
@Injectable()
export class DeliveryAttempts {
  private readonly log = new Logger('Notifications');
  private readonly publicUrl: string | undefined;

  constructor(
    private readonly configs: SealedChannels,
    private readonly clock: Clock,
    private readonly http: OutboundHttp,
    private readonly smtp: OutboundSmtp,
    { publicUrl }: Settings,
  ) {
    this.publicUrl = publicUrl?.replace(/\/+$/, '');
  }

  /** Throws only if `signal` is aborted before the end of the attempt. */
  async deliver(
    { channel, folded: { delivery, carried, alike }, present }: PresentDelivery,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { type, holders, partial_attempts } = delivery;
    // The channel may have chosen an event of a later release.
    if (!isEventName(type)) return { kind: 'refused', why: `This release knows no event ${type}.` };
    const messageFor = (one: Delivery) => {
      const { incident_number } = present.incidents.get(one.incident_id ?? '') ?? {};
      return messageOf(type, { ...one, incident_number, public_url: this.publicUrl });
    };
    const message = () =>
      foldedMessage([messageFor(delivery), ...carried.map(messageFor)], alike, present);
    const partlySent = { holders, attempts: partial_attempts };
    return await withDeadline(ATTEMPT_MS, signal, (over) =>
      this.attempt(channel, message, signal, over, partlySent),
    );
  }

  async test(channel: NotificationChannelEntity, now: Date): Promise<Outcome> {
    const source: SourceEvent = {
      event_id: newId(now.getTime()),
      occurred_at: now,
      subject_id: channel.id,
      payload: { message: `This is a test of the channel ${channel.name}.` },
      incident_id: null,
    };
    const never = new AbortController().signal;
    return await withDeadline(ATTEMPT_MS, never, (over) =>
      this.attempt(channel, () => messageOf('notification.test', source), never, over),
    );
  }

  private async attempt(
    channel: NotificationChannelEntity,
    message: () => Message,
    signal: AbortSignal,
    over: AbortSignal,
    partlySent?: PartlySent,
  ): Promise<Outcome> {
    try {
      const type = CHANNEL_TYPES.find(channel.type);
      if (!type) return { kind: 'failed', why: unknownType(channel.type) };
      const config = this.configs.openIfReadable(channel.id, channel);
      if (!config) return { kind: 'failed', why: UNREADABLE };
      const sent = type.send({
        config,
        formerSecret: this.formerSecretOf(channel),
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
  }

  private formerSecretOf(channel: NotificationChannelEntity): string | undefined {
    const { id, former_secret, former_secret_until } = channel;
    if (!former_secret || !former_secret_until) return undefined;
    const isValid = former_secret_until > this.clock.now();
    return isValid ? this.configs.openFormer(id, former_secret) : undefined;
  }
}

/** The service was rolled back to an earlier release. */
const unknownType = (type: string) => `This release does not support channels of the type ${type}.`;
