import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Severity } from '../incidents/incident.js';
import { Clock } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import { newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { type Config, isObject } from '../targets/target-config.js';
import type { TargetSort } from '../targets/target-rows.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';
import { nameKey, type NotificationChannelEntity } from './notification-channel.entity.js';
import {
  type ChannelContent,
  NotificationChannelsRepository,
} from './notification-channels.repository.js';
import { OVERLAP_MS, SealedChannels } from './sealed-channels.js';

/** Each channel costs every event that it receives a row. */
export const MAX_CHANNELS = 50;

interface NewChannel {
  readonly name: string;
  readonly type: string;
  readonly config: Config;
  readonly enabled?: boolean;
  readonly events?: readonly NotifiedEvent[];
  readonly min_severity?: Severity;
  readonly new_incident_min_severity?: Severity;
}

interface ChannelChange extends Partial<Omit<NewChannel, 'type'>> {
  readonly rotate_secret?: boolean;
  readonly revoke_old_secret?: boolean;
}

export interface ShownChannel extends NotificationChannelEntity {
  readonly dead_last_day: number;
  /** Secret that the service generated in this change. It cannot be read later. */
  readonly secret?: string;
}

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
    const dead = await this.channels.deadLastDay(items.map(({ id }) => id));
    const shown = items.map((row) => ({ ...row, dead_last_day: dead.get(row.id) ?? 0 }));
    return { items: shown, total };
  }

  async show(id: string): Promise<ShownChannel> {
    return await this.shown(await this.get(id));
  }

  /** Locks the channel if there is a transaction. */
  get(id: string, tx?: Tx): Promise<NotificationChannelEntity> {
    return this.channels.get(id, tx);
  }

  async create(
    caller: Caller,
    wanted: NewChannel,
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
    change: ChannelChange,
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
      return { ...(await this.shown(after, tx)), secret };
    }, caller);
  }

  async delete(caller: Caller, id: string, condition: IfMatchCondition): Promise<void> {
    await this.transactions.run(async (tx) => {
      const gone = await this.channels.get(id, tx);
      requireMatch(condition, gone.version);
      await this.channels.markDeleted(tx, id, { former_secret: null, former_secret_until: null });
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

  private async shown(channel: NotificationChannelEntity, tx?: Tx): Promise<ShownChannel> {
    const dead = await this.channels.deadLastDay([channel.id], tx);
    return { ...channel, dead_last_day: dead.get(channel.id) ?? 0 };
  }

  private newContent(id: string, wanted: NewChannel) {
    const type = CHANNEL_TYPES.named(wanted.type);
    const { rotates } = type;
    const isMissing = rotates !== undefined && !Object.hasOwn(wanted.config, rotates);
    const secret = isMissing ? type.newSecret() : undefined;
    const config = isMissing ? { ...wanted.config, [rotates]: secret ?? null } : wanted.config;
    const stored = this.configs.checkAndSeal(type, id, config);
    const content: ChannelContent = {
      name: wanted.name,
      name_key: nameKey(wanted.name),
      enabled: wanted.enabled ?? true,
      events: sortedEvents(wanted.events ?? type.defaultEvents),
      min_severity: wanted.min_severity ?? 'low',
      new_incident_min_severity: newIncidentMinSeverityOf(type, wanted),
      ...stored,
      former_secret: null,
      former_secret_until: null,
    };
    return { content, secret };
  }

  private changedContent(before: NotificationChannelEntity, change: ChannelChange) {
    const type = CHANNEL_TYPES.named(before.type);
    const secret = change.rotate_secret ? newSecretOf(type, change.config) : undefined;
    const config =
      secret === undefined ? change.config : { ...change.config, [type.rotates ?? '']: secret };
    const stored = config && this.configs.change(type, before.id, before, config);
    const { name = before.name, enabled = before.enabled } = change;
    // A channel whose secrets are lost can be enabled only with new secrets.
    if (enabled && !before.enabled && !stored) {
      this.configs.checkAndSeal(type, before.id, this.configs.open(before.id, before));
    }
    const { config: readable, secrets, secret_names } = stored ?? before;
    const content: ChannelContent = {
      name,
      name_key: nameKey(name),
      enabled,
      events: change.events ? sortedEvents(change.events) : before.events,
      min_severity: change.min_severity ?? before.min_severity,
      new_incident_min_severity:
        change.new_incident_min_severity ?? before.new_incident_min_severity,
      config: readable,
      secrets,
      secret_names,
      ...this.formerSecret(type, before, config, change.revoke_old_secret),
    };
    return { content, secret };
  }

  /** Empty if the type is from another release, or if the destination is lost with its key. */
  private sentTo({ id, type, ...channel }: NotificationChannelEntity): string[] {
    return CHANNEL_TYPES.find(type)?.sentTo(this.configs.openReadable(id, channel)) ?? [];
  }

  /** At most two secrets are valid: a second rotation within OVERLAP_MS revokes the oldest secret. */
  private formerSecret(
    { rotates }: ChannelType,
    before: NotificationChannelEntity,
    config: Config | undefined,
    revoke = false,
  ): Pick<ChannelContent, 'former_secret' | 'former_secret_until'> {
    if (rotates === undefined || revoke) return { former_secret: null, former_secret_until: null };
    const { former_secret, former_secret_until } = before;
    const kept = { former_secret, former_secret_until };
    if (!isObject(config) || !Object.hasOwn(config, rotates)) return kept;
    const present = this.configs.open(before.id, before)[rotates];
    if (typeof present !== 'string' || present === config[rotates]) return kept;
    return {
      former_secret: this.configs.sealFormer(before.id, present),
      former_secret_until: new Date(this.clock.now().getTime() + OVERLAP_MS),
    };
  }
}

/** By default, channels for people get new incidents from `high` on. Chosen events or severities override this. */
function newIncidentMinSeverityOf(
  { isForPeople }: ChannelType,
  { events, min_severity, new_incident_min_severity }: NewChannel,
): Severity | null {
  const byDefault = isForPeople && !events ? (min_severity ?? 'high') : null;
  return new_incident_min_severity ?? byDefault;
}

function newSecretOf(type: ChannelType, given: Config = {}): string {
  const secret = type.newSecret();
  if (secret === undefined) {
    const message = `rotate_secret is not possible for channels of the type ${type.name}: the receiver generates their secrets.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  if (Object.hasOwn(given, type.rotates ?? '')) {
    const message = `Send either config.${type.rotates} or rotate_secret, not both.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  return secret;
}

/** Removes duplicates. */
function sortedEvents(chosen: readonly NotifiedEvent[]): NotifiedEvent[] {
  if (chosen.length > 0) return NOTIFIED_EVENTS.filter((event) => chosen.includes(event));
  throw ValidationError.of('events', 'is_not_empty', 'events must name at least one event.');
}
