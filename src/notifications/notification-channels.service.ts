import { Injectable } from '@nestjs/common';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import { newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import type { Config } from '../targets/target-config.js';
import type { TargetSort } from '../targets/target-rows.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { EVENTS_FOR_PEOPLE, NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';
import type { NotificationChannelEntity, ShownChannel } from './notification-channel.entity.js';
import type {
  NotificationChannelInputDto,
  NotificationChannelUpdateDto,
} from './notifications.dto.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';
import { type FormerSecret, SealedChannels } from './sealed-channels.js';

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
    // Channels for people get new incidents from `high` on. Chosen events or severities override this.
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
      // The configuration is also checked when the channel is enabled: its secrets may be lost.
      const given = config ?? (enabled && !before.enabled ? {} : undefined);
      const changed = given && this.configs.change(type, id, before, given);
      const { config: readable, secrets, secret_names } = changed?.stored ?? before;
      const after = await this.channels.update(tx, before, {
        ...{ name, enabled, min_severity, new_incident_min_severity },
        // The channel may have events of a later release.
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

  /** Details contain field names and destinations, but no other value of the configuration, because it may be a secret. */
  async record(
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
    if (!config || !Object.hasOwn(config, rotates.field)) return kept;
    const present = this.configs.open(before.id, before)[rotates.field];
    if (typeof present !== 'string' || present === config[rotates.field]) return kept;
    return this.configs.sealFormer(before.id, present, this.clock.now());
  }
}

/** In the order of the catalogue, without duplicates. */
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
