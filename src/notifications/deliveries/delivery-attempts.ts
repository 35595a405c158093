import { Injectable, Logger } from '@nestjs/common';
import { unlessAborted, withDeadline } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { OutboundHttp } from '../../platform/net/outbound-http.js';
import { OutboundSmtp } from '../../platform/net/outbound-smtp.js';
import type { Outcome } from '../channel-type.js';
import { CHANNEL_TYPES } from '../channel-types.js';
import type { Delivery, PartlySent } from '../delivery.js';
import { foldedMessage } from '../messages/folded-message.js';
import type { SourceEvent } from '../messages/define-event.js';
import { messageOf } from '../messages/message.js';
import { type EventName, isEventName, type Message, TEST_EVENT } from '../notification.js';
import type { SealedChannel } from '../notification-channel.js';
import { SealedChannels } from '../sealed-channels.js';
import { ATTEMPT_MS } from './delivery-rules.js';
import type { PresentDelivery } from './present-states.js';
import { newId } from '../../platform/ids.js';
import { Clock } from '../../platform/clock.js';

const LATE = `No answer came within ${ATTEMPT_MS / 1_000} seconds.`;
const UNREADABLE = 'The secrets of the channel cannot be read: give it new ones.';
const BROKEN = 'The attempt failed inside the service; see its log.';

/** Hands one message to one channel, once. */
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

  /** Throws the reason of the signal when that is aborted first, and nothing else. */
  async deliver(
    { channel, folded: { delivery, carried, alike }, present }: PresentDelivery,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { type } = delivery;
    // A trigger writes what channels chose, from a list that may be of a later release.
    if (!isEventName(type)) return { kind: 'refused', why: `This release knows no event ${type}.` };
    const about = (one: Delivery) => {
      const incidentNumber = present.incidents.get(one.incidentId ?? '')?.incident_number;
      return this.message(type, { ...one, incidentNumber });
    };
    const message = () => foldedMessage([about(delivery), ...carried.map(about)], alike, present);
    return await withDeadline(ATTEMPT_MS, signal, (over) =>
      this.attempt(channel, message, signal, over, delivery.partlySent),
    );
  }

  /** A message that says that it is a test. */
  async test(channel: SealedChannel, now: Date): Promise<Outcome> {
    const source: SourceEvent = {
      eventId: newId(now.getTime()),
      occurredAt: now,
      subject: { type: 'notification_channel', id: channel.id },
      payload: { message: `This is a test of the channel ${channel.name}.` },
    };
    const never = new AbortController().signal;
    return await withDeadline(ATTEMPT_MS, never, (over) =>
      this.attempt(channel, () => this.message(TEST_EVENT, source), never, over),
    );
  }

  private message(event: EventName, source: SourceEvent): Message {
    return messageOf(event, { ...source, publicUrl: this.publicUrl });
  }

  private async attempt(
    channel: SealedChannel,
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
      // A type that does not listen to the signal must not keep the place.
      return await unlessAborted(over, sent);
    } catch (err) {
      signal.throwIfAborted();
      if (over.aborted) return { kind: 'failed', why: LATE };
      this.log.error({ err, channel: channel.name }, 'A notification could not be sent');
      return { kind: 'failed', why: BROKEN };
    }
  }

  private formerSecretOf({ id, formerSecret, formerSecretUntil }: SealedChannel) {
    const isValid = formerSecretUntil !== undefined && formerSecretUntil > this.clock.now();
    return isValid && formerSecret ? this.configs.openFormer(id, formerSecret) : undefined;
  }
}

/** As after going back to an earlier release. */
const unknownType = (type: string) => `This release knows no channels of the type ${type}.`;
