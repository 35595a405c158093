import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import type { Caller } from '../platform/http/request.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { isUuid, newId } from '../platform/ids.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { Page } from '../platform/paging/page.js';
import { Work } from '../platform/work/work.js';
import type { Config } from '../targets/target-config.js';
import type { TargetTest } from '../targets/target-contract.js';
import { ChannelAttempts } from './channel-attempts.js';
import type { ChannelType } from './channel-type.js';
import { DeliveriesRepository, type DeliveryListRequest } from './deliveries.repository.js';
import { type Delivery, laneOf } from './delivery.entity.js';
import { ATTEMPT_MS } from './delivery-rules.js';
import {
  channelStatusOf,
  type NotificationChannelEntity,
  type ShownChannel,
} from './notification-channel.entity.js';
import {
  CHANNEL_TYPES,
  type FormerSecret,
  NotificationChannelsRepository,
  SealedChannels,
} from './notification-channels.repository.js';
import {
  EVENTS_FOR_PEOPLE,
  messageOf,
  NOTIFIED_EVENTS,
  type NotifiedEvent,
} from './notification.js';
import type {
  NotificationChannelInputDto,
  NotificationChannelUpdateDto,
} from './notifications.dto.js';

const NO_FORMER_SECRET: FormerSecret = { former_secret: null, former_secret_until: null };

const UNKNOWN: TargetTest = {
  success: false,
  message: 'The service stopped during the test. It is unknown whether the message arrived.',
  latency_ms: 0,
};

const asIs = (result: TargetTest): TargetTest => result;

@Injectable()
export class NotificationsService implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly channels: NotificationChannelsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly configs: SealedChannels,
    private readonly attempts: ChannelAttempts,
    private readonly work: Work,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('notifications', () => this.health());
    this.gauges.register('notifications_waiting', () => this.deliveries.waiting());
    this.gauges.register('notification_channel_up', async () => {
      const enabled = await this.channels.enabled();
      return enabled.map(({ name, unhealthy_since }) => [{ channel: name }, +!unhealthy_since]);
    });
  }

  async create(
    caller: Caller,
    { name, enabled = true, config: given, ...wanted }: NotificationChannelInputDto,
    idempotency: Participant<ShownChannel>,
  ): Promise<ShownChannel> {
    const type = CHANNEL_TYPES.named(wanted.type);
    const { audience, rotates, defaultEvents = EVENTS_FOR_PEOPLE } = type;
    const isMissing = rotates && !Object.hasOwn(given, rotates.field);
    const secret = isMissing ? rotates.newSecret() : undefined;
    const config = secret ? { ...given, [rotates!.field]: secret } : given;
    const id = newId();
    const { stored, details } = this.configs.create(type, id, config);
    // Channels for people get new incidents from `high` on. Selected events or severities override this default.
    const isByDefault = audience !== 'programs' && !wanted.events;
    const {
      min_severity = 'low',
      new_incident_min_severity = isByDefault ? (wanted.min_severity ?? 'high') : null,
    } = wanted;
    const row = {
      ...{ id, name, type: wanted.type, audience, enabled, ...stored },
      events: chosenEvents(wanted.events ?? defaultEvents),
      ...{ min_severity, new_incident_min_severity, created_by: caller.name },
    };
    return await this.transactions.run<ShownChannel>(
      async (tx) => {
        const made = await this.channels.insert(tx, row);
        await this.record(tx, caller, 'notification_channel.created', made, details);
        return { ...made, secret };
      },
      caller,
      idempotency,
    );
  }

  async update(
    caller: Caller,
    id: string,
    change: NotificationChannelUpdateDto,
    condition: IfMatchCondition,
  ): Promise<ShownChannel> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await this.transactions.run<ShownChannel>(async (tx) => {
      const before = await this.channels.get(id, tx);
      requireMatch(condition, before.version);
      const type = CHANNEL_TYPES.named(before.type);
      const { rotate_secret, revoke_old_secret, events, ...wanted } = change;
      const {
        name = before.name,
        enabled = before.enabled,
        min_severity = before.min_severity,
        new_incident_min_severity = before.new_incident_min_severity,
      } = wanted;
      const secret = rotate_secret ? newSecretOf(type, wanted.config) : undefined;
      const config = secret ? { ...wanted.config, [type.rotates!.field]: secret } : wanted.config;
      // The configuration is also checked when the channel is enabled, because its secrets may be lost.
      const given = config ?? (enabled && !before.enabled ? {} : undefined);
      const changed = given && this.configs.change(type, id, before, given);
      const { config: readable, secrets, secret_names } = changed?.stored ?? before;
      const after = await this.channels.update(tx, before, {
        ...{ name, enabled, min_severity, new_incident_min_severity },
        // The channel may have selected events of a later release.
        events: events ? chosenEvents(events) : before.events,
        ...{ config: readable, secrets, secret_names },
        ...this.formerSecret(type, before, config, revoke_old_secret),
      });
      await this.record(tx, caller, 'notification_channel.updated', after, {
        name_before: before.name === name ? undefined : before.name,
        config_fields: wanted.config && Object.keys(wanted.config),
        rotate_secret,
        revoke_old_secret,
        ...changed?.details,
      });
      return { ...after, secret };
    }, caller);
  }

  async delete(caller: Caller, id: string, condition: IfMatchCondition): Promise<void> {
    await this.transactions.run(async (tx) => {
      const gone = await this.channels.get(id, tx);
      requireMatch(condition, gone.version);
      await this.channels.markDeleted(tx, id, NO_FORMER_SECRET);
      await this.record(tx, caller, 'notification_channel.deleted', gone);
    }, caller);
  }

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { id: channelId } = await this.channels.get(request.channelId);
    return await this.deliveries.list({ ...request, channelId });
  }

  /** Sends a test message, even if the channel is disabled or paused. A concurrent copy of the request is rejected. */
  async test(caller: Caller, id: string, idempotency: Idempotency): Promise<TargetTest> {
    const channel = await this.channels.get(id);
    const isRunning = idempotency.remember(asIs, { provisionalForMs: 2 * ATTEMPT_MS });
    await this.transactions.run<TargetTest>(async () => UNKNOWN, caller, isRunning);
    const begun = performance.now();
    const occurred_at = this.clock.now();
    const outcome = await this.attempts.send(channel, () =>
      messageOf('notification.test', {
        event_id: newId(occurred_at.getTime()),
        occurred_at,
        subject_id: channel.id,
        payload: { message: `This is a test of the channel ${channel.name}.` },
        incident_id: null,
      }),
    );
    const success = outcome.kind === 'delivered';
    const message = success ? 'The message is delivered.' : outcome.why;
    const latency_ms = Math.round(performance.now() - begun);
    return await this.transactions.run<TargetTest>(
      async (tx) => {
        if (success) await this.attempts.resume(tx, channel.id);
        await this.record(tx, caller, 'notification_channel.tested', channel, { success });
        return { success, message, latency_ms };
      },
      caller,
      idempotency.remember(asIs),
    );
  }

  /** Retries deliveries that died since the given time, for another day, in the order of their events. */
  async redeliverDead(
    caller: Caller,
    channelId: string,
    since: Date,
    idempotency: Participant<{ redelivered: number }>,
  ): Promise<{ redelivered: number }> {
    const { id, name: channel } = await this.channels.get(channelId);
    return await this.transactions.run<{ redelivered: number }>(
      async (tx) => {
        await this.resumeEnabled(tx, id);
        const count = await this.deliveries.reopenDead(tx, id, since);
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_channel', id },
          details: { channel, since: since.toISOString(), count },
        });
        return { redelivered: count };
      },
      caller,
      idempotency,
    );
  }

  /** Retries a delivery for another day, regardless of its status. */
  async redeliver(
    caller: Caller,
    channelId: string,
    deliveryId: string,
    idempotency: Participant<Delivery>,
  ): Promise<Delivery> {
    const { id: channel_id, name: channel } = await this.channels.get(channelId);
    if (!isUuid(deliveryId)) throw new NotFoundError('Delivery');
    return await this.transactions.run<Delivery>(
      async (tx) => {
        await this.resumeEnabled(tx, channel_id);
        const delivery = await this.deliveries.reopen(tx, channel_id, deliveryId);
        if (!delivery) throw new NotFoundError('Delivery');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_delivery', id: delivery.id },
          details: { channel, channel_id, event: delivery.type },
        });
        return delivery;
      },
      caller,
      idempotency,
    );
  }

  /** Ends the pause of a channel, so that redelivered messages are sent immediately. */
  private async resumeEnabled(tx: Tx, channelId: string): Promise<void> {
    const { enabled } = await this.channels.get(channelId, tx);
    if (!enabled) throw new AppError('invalid_state', 'The channel is disabled.');
    await this.work.resumeLane(tx, laneOf(channelId), false);
  }

  /** Details contain only field names and destinations, because any other value may be a secret. */
  private async record(
    tx: Tx,
    { name: actor }: Caller,
    action: Extract<AuditAction, `notification_channel.${string}`>,
    { id, name, type, enabled, events, min_severity, ...channel }: NotificationChannelEntity,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const new_incident_min_severity = channel.new_incident_min_severity ?? undefined;
    const chosen = { enabled, events, min_severity, new_incident_min_severity };
    const subject = { type: 'notification_channel', id };
    const details = { name, type, ...chosen, ...more };
    await this.audit.record(tx, { actor, action, subject, details });
  }

  /** Keeps the previous secret. At most two secrets are valid: a second rotation within 24 hours revokes the oldest secret. */
  private formerSecret(
    { rotates }: ChannelType,
    before: NotificationChannelEntity,
    config: Config | undefined,
    revoke = false,
  ): FormerSecret {
    if (!rotates || revoke) return NO_FORMER_SECRET;
    const { former_secret, former_secret_until } = before;
    const kept = { former_secret, former_secret_until };
    if (!config || !Object.hasOwn(config, rotates.field)) return kept;
    const present = this.configs.open(before.id, before)[rotates.field];
    if (typeof present !== 'string' || present === config[rotates.field]) return kept;
    return this.configs.sealFormer(before.id, present, this.clock.now());
  }

  private async health(): Promise<ComponentHealth> {
    const enabled = await this.channels.enabled();
    const total = enabled.length;
    if (total === 0) return { status: 'disabled', message: 'No channel is enabled.', total };
    const waiting = await this.deliveries.waiting();
    const { degraded, unhealthy } = Object.groupBy(enabled, channelStatusOf);
    const [failing, broken] = [degraded, unhealthy].map((some) => some?.map(({ name }) => name));
    if (!failing && !broken) return { status: 'healthy', total, waiting };
    const message = broken
      ? `${broken.length} of ${total} channels ${broken.length === 1 ? 'has' : 'have'} failed for more than ten minutes.`
      : `The last attempt failed for ${failing!.length} of ${total} channels.`;
    return { status: 'degraded', message, total, waiting, failing, unhealthy: broken };
  }
}

function chosenEvents(events: readonly NotifiedEvent[]): NotifiedEvent[] {
  if (events.length > 0) return NOTIFIED_EVENTS.filter((event) => events.includes(event));
  throw ValidationError.of('events', 'is_not_empty', 'events must name at least one event.');
}

function newSecretOf({ name, rotates }: ChannelType, given: Config = {}): string {
  if (!rotates) {
    const message = `rotate_secret is not possible for channels of the type ${name}: the receiver generates their secrets.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  if (Object.hasOwn(given, rotates.field)) {
    const message = `Send either config.${rotates.field} or rotate_secret, not both.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  return rotates.newSecret();
}
