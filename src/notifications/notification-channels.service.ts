import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import { newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { originsOf } from '../targets/target-check.js';
import { type Config, isObject } from '../targets/target-config.js';
import type { TargetSort } from '../targets/target-rows.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { EVENTS_FOR_PEOPLE, NOTIFIED_EVENTS } from './notification.js';
import {
  nameKey,
  type NotificationChannelEntity,
  type ShownChannel,
} from './notification-channel.entity.js';
import type {
  NotificationChannelInputDto,
  NotificationChannelUpdateDto,
} from './notifications.dto.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';
import { type FormerSecret, SealedChannels } from './sealed-channels.js';

/** Each channel costs every event that it receives a row. */
export const MAX_CHANNELS = 50;

const NO_FORMER_SECRET: FormerSecret = { former_secret: null, former_secret_until: null };

@Injectable()
export class NotificationChannelsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly channels: NotificationChannelsRepository,
    private readonly configs: SealedChannels,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(request: PageRequest, sort: readonly TargetSort[]): Promise<Page<ShownChannel>> {
    const { items, total } = await this.channels.list(request, sort);
    return { items: await this.shown(items), total };
  }

  async show(id: string): Promise<ShownChannel> {
    return (await this.shown([await this.get(id)]))[0]!;
  }

  /** Locks the channel if there is a transaction. */
  get(id: string, tx?: Tx): Promise<NotificationChannelEntity> {
    return this.channels.get(id, tx);
  }

  async create(
    caller: Caller,
    wanted: NotificationChannelInputDto,
    idempotency: Participant<ShownChannel>,
  ): Promise<ShownChannel> {
    const id = newId();
    const { content, secret } = this.newContent(id, wanted);
    return await this.transactions.run<ShownChannel>(
      async (tx) => {
        if ((await this.channels.countAlone(tx)) >= MAX_CHANNELS) {
          const message = `The limit of ${MAX_CHANNELS} notification channels is reached. Delete one first.`;
          throw new AppError('conflict', message);
        }
        const identity = { id, type: wanted.type, created_by: caller.name };
        const made = await this.channels.insert(tx, { ...identity, ...content });
        await this.record(tx, caller, 'notification_channel.created', made);
        return { ...made, dead_last_day: 0, secret };
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
      const { content, secret } = this.changedContent(before, change);
      const after = await this.channels.update(tx, before, content);
      const sentTo = this.sentTo(before);
      await this.record(tx, caller, 'notification_channel.updated', after, {
        name_before: before.name === after.name ? undefined : before.name,
        config_fields: change.config && Object.keys(change.config),
        rotate_secret: change.rotate_secret,
        revoke_old_secret: change.revoke_old_secret,
        sent_to_before: isDeepStrictEqual(sentTo, this.sentTo(after)) ? undefined : sentTo,
      });
      const [shown] = await this.shown([after], tx);
      return { ...shown!, secret };
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

  /**
   * Details name the destinations, because the channel may be deleted later, and the changed fields. They contain no other
   * value of the configuration, because it may be a secret.
   */
  async record(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `notification_channel.${string}`>,
    channel: NotificationChannelEntity,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const { id, name, type, enabled, events, min_severity } = channel;
    const details = {
      name,
      type,
      enabled,
      events,
      min_severity,
      new_incident_min_severity: channel.new_incident_min_severity ?? undefined,
      sent_to: this.sentTo(channel),
      ...more,
    };
    const subject = { type: 'notification_channel', id };
    await this.audit.record(tx, { actor: caller.name, action, subject, details });
  }

  private async shown(
    rows: readonly NotificationChannelEntity[],
    tx?: Tx,
  ): Promise<ShownChannel[]> {
    const dead = await this.channels.deadLastDay(
      rows.map(({ id }) => id),
      tx,
    );
    return rows.map((row) => ({ ...row, dead_last_day: dead.get(row.id) ?? 0 }));
  }

  private newContent(id: string, wanted: NotificationChannelInputDto) {
    const type = CHANNEL_TYPES.named(wanted.type);
    const { rotates, defaultEvents = EVENTS_FOR_PEOPLE } = type;
    const isMissing = rotates && !Object.hasOwn(wanted.config, rotates.field);
    const secret = isMissing ? rotates.newSecret() : undefined;
    const config = secret ? { ...wanted.config, [rotates!.field]: secret } : wanted.config;
    const stored = this.configs.checkAndSeal(type, id, config);
    // Channels for people get new incidents from `high` on. Chosen events or severities override this.
    const isByDefault = type.audience !== 'programs' && !wanted.events;
    const defaults = {
      name: wanted.name,
      enabled: true,
      events: NOTIFIED_EVENTS.filter((event) => defaultEvents.includes(event)),
      min_severity: 'low' as const,
      new_incident_min_severity: isByDefault ? (wanted.min_severity ?? 'high') : null,
    };
    const { audience } = type;
    const content = { audience, ...chosen(defaults, wanted), ...stored, ...NO_FORMER_SECRET };
    return { content, secret };
  }

  private changedContent(before: NotificationChannelEntity, change: NotificationChannelUpdateDto) {
    const type = CHANNEL_TYPES.named(before.type);
    const secret = change.rotate_secret ? newSecretOf(type, change.config) : undefined;
    const config = secret ? { ...change.config, [type.rotates!.field]: secret } : change.config;
    const stored = config && this.configs.change(type, before.id, before, config);
    const after = chosen(before, change);
    // A channel whose secrets are lost can be enabled only with new secrets.
    if (after.enabled && !before.enabled && !stored) {
      this.configs.checkAndSeal(type, before.id, this.configs.open(before.id, before));
    }
    const { config: readable, secrets, secret_names } = stored ?? before;
    const former = this.formerSecret(type, before, config, change.revoke_old_secret);
    return { content: { ...after, config: readable, secrets, secret_names, ...former }, secret };
  }

  /** Empty if the type is from another release, or if the destination is lost with its key. */
  private sentTo(channel: NotificationChannelEntity): string[] {
    const config = this.configs.openIfReadable(channel.id, channel) ?? channel.config;
    const type = CHANNEL_TYPES.find(channel.type);
    return type ? [...originsOf(type.config, config), ...(type.sentTo?.(config) ?? [])] : [];
  }

  /** At most two secrets are valid: a second rotation within 24 hours revokes the oldest secret. */
  private formerSecret(
    { rotates }: ChannelType,
    before: NotificationChannelEntity,
    config: Config | undefined,
    revoke = false,
  ): FormerSecret {
    if (!rotates || revoke) return NO_FORMER_SECRET;
    const { former_secret, former_secret_until } = before;
    const kept = { former_secret, former_secret_until };
    if (!isObject(config) || !Object.hasOwn(config, rotates.field)) return kept;
    const present = this.configs.open(before.id, before)[rotates.field];
    if (typeof present !== 'string' || present === config[rotates.field]) return kept;
    return this.configs.sealFormer(before.id, present, this.clock.now());
  }
}

/** Columns that callers choose. */
function chosen(
  before: Pick<
    NotificationChannelEntity,
    'name' | 'enabled' | 'events' | 'min_severity' | 'new_incident_min_severity'
  >,
  { events, ...change }: NotificationChannelUpdateDto,
) {
  const {
    name = before.name,
    enabled = before.enabled,
    min_severity = before.min_severity,
    new_incident_min_severity = before.new_incident_min_severity,
  } = change;
  if (events?.length === 0) {
    throw ValidationError.of('events', 'is_not_empty', 'events must name at least one event.');
  }
  return {
    name,
    name_key: nameKey(name),
    enabled,
    // Without duplicates. The channel may have events of a later release.
    events: events ? NOTIFIED_EVENTS.filter((event) => events.includes(event)) : before.events,
    min_severity,
    new_incident_min_severity,
  };
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
