import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Caller } from '../platform/http/caller.js';
import { ValidationError } from '../platform/errors/app-error.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import { isUuid, newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ChannelChanges, type ChannelChange, type NewChannel } from './channel-changes.js';
import type { ChannelRecord, SealedChannel } from './notification-channel.js';
import {
  ChannelNameTakenError,
  ChannelNotFoundError,
  TooManyChannelsError,
} from './notifications.errors.js';
import {
  type ChannelSort,
  NotificationChannelsRepository,
} from './records/notification-channels.repository.js';

/** Enough for every team of a site; each costs every event that it wants a row. */
export const MOST_CHANNELS = 50;

export interface ChangedChannel extends ChannelRecord {
  /** The secret that the service made in this change. Nobody can read it later. */
  readonly madeSecret?: string;
}

@Injectable()
export class NotificationChannelsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly channels: NotificationChannelsRepository,
    private readonly changes: ChannelChanges,
    private readonly audit: AuditLog,
  ) {}

  async list(request: PageRequest, sort: readonly ChannelSort[]): Promise<Page<ChannelRecord>> {
    const { items, total } = await this.channels.list(request, sort);
    return { items: await this.shown(items), total };
  }

  async show(id: string): Promise<ChannelRecord> {
    return (await this.shown([await this.get(id)]))[0]!;
  }

  async get(id: string): Promise<SealedChannel> {
    const found = isUuid(id) ? await this.channels.findById(id) : undefined;
    if (!found) throw new ChannelNotFoundError();
    return found;
  }

  async create(
    caller: Caller,
    wanted: NewChannel,
    idempotency: Participant<ChangedChannel>,
  ): Promise<ChangedChannel> {
    const id = newId();
    const { content, madeSecret } = this.changes.ofNew(id, wanted);
    return await unlessTaken(wanted.name, () =>
      this.transactions.run<ChangedChannel>(
        async (tx) => {
          if ((await this.channels.countAlone(tx)) >= MOST_CHANNELS) {
            throw new TooManyChannelsError(MOST_CHANNELS);
          }
          const identity = { id, type: wanted.type, by: caller.name };
          const made = await this.channels.insert(tx, identity, content);
          await this.record(tx, caller, 'notification_channel.created', made);
          return { ...made, deadLastDay: 0, madeSecret };
        },
        caller,
        idempotency,
      ),
    );
  }

  async update(
    caller: Caller,
    id: string,
    change: ChannelChange,
    condition: IfMatchCondition,
  ): Promise<ChangedChannel> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await unlessTaken(change.name ?? '', () =>
      this.transactions.run<ChangedChannel>(async (tx) => {
        const before = await this.lock(tx, id, condition);
        const { content, madeSecret } = this.changes.after(before, change);
        const sentTo = this.changes.sentTo(before);
        const after = await this.channels.update(tx, before, content);
        await this.record(tx, caller, 'notification_channel.updated', after, {
          name_before: before.name === after.name ? undefined : before.name,
          config_fields: change.config && Object.keys(change.config),
          rotate_secret: change.rotate_secret,
          revoke_old_secret: change.revoke_old_secret,
          sent_to_before: isDeepStrictEqual(sentTo, this.changes.sentTo(after))
            ? undefined
            : sentTo,
        });
        const [shown] = await this.shown([after], tx);
        return { ...shown!, madeSecret };
      }, caller),
    );
  }

  async delete(caller: Caller, id: string, condition: IfMatchCondition): Promise<void> {
    await this.transactions.run(async (tx) => {
      const gone = await this.lock(tx, id, condition);
      await this.channels.markDeleted(tx, id);
      await this.record(tx, caller, 'notification_channel.deleted', gone);
    }, caller);
  }

  /**
   * The details name fields and where messages go, so that the trail tells it also when the channel is gone, and never any other
   * value of a configuration, because it may be a secret.
   */
  async record(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `notification_channel.${string}`>,
    channel: SealedChannel,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const { id, name, type, enabled, events, minSeverity, newIncidentMinSeverity } = channel;
    const subject = { type: 'notification_channel', id };
    const sent_to = this.changes.sentTo(channel);
    const details = {
      name,
      type,
      enabled,
      events,
      min_severity: minSeverity,
      new_incident_min_severity: newIncidentMinSeverity,
      sent_to,
      ...more,
    };
    await this.audit.record(tx, { actor: caller.name, action, subject, details });
  }

  private async shown(channels: readonly SealedChannel[], tx?: Tx): Promise<ChannelRecord[]> {
    const dead = await this.channels.deadLastDay(
      channels.map(({ id }) => id),
      tx,
    );
    return channels.map((channel) => ({ ...channel, deadLastDay: dead.get(channel.id) ?? 0 }));
  }

  private async lock(tx: Tx, id: string, condition: IfMatchCondition): Promise<SealedChannel> {
    const found = isUuid(id) ? await this.channels.lockById(tx, id) : undefined;
    if (!found) throw new ChannelNotFoundError();
    requireMatch(condition, found.version);
    return found;
  }
}

function unlessTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
  const taken = () => new ChannelNameTakenError(name);
  return mapConstraints({ uq_notification_channels_name: taken }, work);
}
