import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { presentTime } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import type { Caller } from '../platform/http/request.js';
import { isUuid, newId } from '../platform/ids.js';
import { Targets } from '../platform/net/targets.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { Page } from '../platform/paging/page.js';
import type { Config } from '../targets/target-config.js';
import type { TargetTest } from '../targets/target-contract.js';
import { type Changed, TargetsService } from '../targets/targets-service.js';
import {
  CHANNEL_TYPES,
  channelStatusOf,
  type ChannelEntity,
  ChannelsRepository,
  NO_FORMER_SECRET,
  WORKING,
} from './channel.js';
import type { ChannelType } from './channel-type.js';
import { DeliveriesRepository, type DeliveryListRequest } from './deliveries.repository.js';
import type { Delivery } from './delivery.js';
import { DeliveryWork } from './delivery.work.js';
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

@Injectable()
export class NotificationsService
  extends TargetsService<ChannelEntity, NotificationChannelInputDto, NotificationChannelUpdateDto>
  implements OnModuleInit
{
  protected readonly types = CHANNEL_TYPES;
  protected readonly audited = ['events', 'min_severity', 'new_incident_min_severity'] as const;

  constructor(
    readonly rows: ChannelsRepository,
    protected readonly targets: Targets,
    protected readonly transactions: Transactions,
    protected readonly audit: AuditLog,
    private readonly deliveries: DeliveriesRepository,
    private readonly sender: DeliveryWork,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {
    super();
  }

  onModuleInit(): void {
    this.components.register('notifications', () => this.health());
    this.gauges.register('notifications_waiting', () => this.deliveries.waiting());
    this.gauges.register('notification_channel_up', async () => {
      const enabled = await this.rows.enabled();
      const isUp = (row: ChannelEntity) => channelStatusOf(row) !== 'unhealthy';
      return enabled.map((row) => [{ channel: row.name }, +isUp(row)]);
    });
  }

  async create(
    caller: Caller,
    { enabled = true, config: given, ...wanted }: NotificationChannelInputDto,
    idempotency: Participant,
  ): Promise<Changed<ChannelEntity>> {
    const type = this.types.named(wanted.type);
    const { audience, defaultEvents = EVENTS_FOR_PEOPLE } = type;
    const secret = hasSecret(given) ? undefined : type.newSecret?.();
    const config = secret ? { ...given, secret } : given;
    // Channels for people get new incidents from severity `high`, unless the request selects events or a severity.
    const isByDefault = audience !== 'programs' && !wanted.events;
    const {
      min_severity = 'low',
      new_incident_min_severity = isByDefault ? (wanted.min_severity ?? 'high') : null,
    } = wanted;
    const row = {
      ...{ ...wanted, audience, enabled, config, created_by: caller.name },
      events: chosenEvents(wanted.events ?? defaultEvents),
      ...{ min_severity, new_incident_min_severity },
    };
    return await this.insert(caller, row, idempotency, secret);
  }

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { id: channelId } = await this.rows.get(request.channelId);
    return await this.deliveries.list({ ...request, channelId });
  }

  /** Retries deliveries for another day, in the order of their events. Ends the pause of their channel. */
  async redeliver(
    caller: Caller,
    channelId: string,
    which: string | Date,
    idempotency: Participant<readonly Delivery[]>,
  ): Promise<readonly Delivery[]> {
    const reopen = async (tx: Tx) => {
      const { id: channel_id, name: channel, enabled } = await this.rows.get(channelId, tx);
      if (typeof which === 'string' && !isUuid(which)) throw new NotFoundError('Delivery');
      if (!enabled) throw new AppError('invalid_state', 'The channel is disabled.');
      await this.sender.hurry(tx, channel_id);
      const reopened = await this.deliveries.reopen(tx, channel_id, which);
      const isSeveral = which instanceof Date;
      const [first] = reopened;
      if (!isSeveral && !first) throw new NotFoundError('Delivery');
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'notification_delivery.redelivered',
        subject: isSeveral
          ? { type: 'notification_channel', id: channel_id }
          : { type: 'notification_delivery', id: first!.id },
        details: isSeveral
          ? { channel, since: which.toISOString(), count: reopened.length }
          : { channel, channel_id, event: first!.type },
      });
      return reopened;
    };
    return await this.transactions.run<readonly Delivery[]>(reopen, caller, idempotency);
  }

  /** Failures of the earlier configuration do not count, so waiting deliveries are sent immediately. */
  protected async plan(before: ChannelEntity, change: NotificationChannelUpdateDto, tx: Tx) {
    const type = this.types.named(before.type);
    const { rotate_secret, revoke_old_secret, enabled = before.enabled, events } = change;
    const { min_severity, new_incident_min_severity } = change;
    const secret = rotate_secret ? newSecretOf(type, change.config) : undefined;
    const given = secret ? { ...change.config, secret } : change.config;
    // The configuration is also checked when the channel is enabled, because its secrets may be lost.
    const config = given ?? (enabled && !before.enabled ? {} : undefined);
    const startsAnew = config || before.enabled !== enabled;
    if (startsAnew) await this.sender.hurry(tx, before.id);
    const columns = {
      ...{ min_severity, new_incident_min_severity, events: events && chosenEvents(events) },
      ...(revoke_old_secret ? NO_FORMER_SECRET : this.formerSecret(type, before, given)),
      ...(startsAnew && WORKING),
    };
    return { config, columns, secret, details: { rotate_secret, revoke_old_secret } };
  }

  protected async attempt(channel: ChannelEntity) {
    const occurred_at = new Date(presentTime());
    const outcome = await this.sender.send(channel, () =>
      messageOf('notification.test', {
        event_id: newId(occurred_at.getTime()),
        occurred_at,
        subject_id: channel.id,
        payload: { message: `This is a test of the channel ${channel.name}.` },
        incident_id: null,
      }),
    );
    const { why: message = 'The message is delivered.' } = outcome;
    return { success: outcome.why === undefined, message };
  }

  protected async storeTest(tx: Tx, { id }: ChannelEntity, { success }: TargetTest) {
    if (success) await this.sender.resume(tx, id);
  }

  /** Keeps the previous secret. At most two secrets are valid: a second rotation within 24 hours revokes the oldest secret. */
  private formerSecret({ newSecret }: ChannelType, before: ChannelEntity, config: Config = {}) {
    if (!newSecret || !hasSecret(config)) return {};
    const { secret } = this.rows.open(before);
    if (typeof secret !== 'string' || secret === config['secret']) return {};
    return this.rows.sealFormer(before.id, secret);
  }

  private async health(): Promise<ComponentHealth> {
    const enabled = await this.rows.enabled();
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

const hasSecret = (config: Config): boolean => Object.hasOwn(config, 'secret');

function newSecretOf({ name, newSecret }: ChannelType, given: Config = {}): string {
  const message = !newSecret
    ? `rotate_secret is not possible for channels of the type ${name}: the receiver generates their secrets.`
    : hasSecret(given) && 'Send either config.secret or rotate_secret, not both.';
  if (message) throw ValidationError.of('rotate_secret', 'is_in', message);
  return newSecret!();
}
