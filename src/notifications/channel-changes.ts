import { Injectable } from '@nestjs/common';
import { type Config, isObject } from '../targets/target-config.js';
import type { Severity } from '../incidents/incident.js';
import { Clock } from '../platform/clock.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';
import type { SealedChannel } from './notification-channel.js';
import type { ChannelContent } from './records/notification-channels.repository.js';
import { OVERLAP_MS, SealedChannels } from './sealed-channels.js';

export interface NewChannel {
  readonly name: string;
  readonly type: string;
  readonly config: Config;
  readonly enabled?: boolean;
  readonly events?: readonly NotifiedEvent[];
  readonly min_severity?: Severity;
  readonly new_incident_min_severity?: Severity;
}

export interface ChannelChange extends Partial<Omit<NewChannel, 'type'>> {
  /** The service makes a new secret. */
  readonly rotate_secret?: boolean;
  /** The secret before the present one ends at once. */
  readonly revoke_old_secret?: boolean;
}

/** What is stored of a channel after a change, and a secret that the service made and nobody has seen. */
interface ChangedContent {
  readonly content: ChannelContent;
  readonly madeSecret?: string;
}

/** Makes of what a caller wants what is stored of a channel. */
@Injectable()
export class ChannelChanges {
  constructor(
    private readonly configs: SealedChannels,
    private readonly clock: Clock,
  ) {}

  ofNew(id: string, wanted: NewChannel): ChangedContent {
    const type = CHANNEL_TYPES.named(wanted.type);
    const { rotates } = type;
    const isMissing = rotates !== undefined && !Object.hasOwn(wanted.config, rotates);
    const madeSecret = isMissing ? type.newSecret() : undefined;
    const config = isMissing ? { ...wanted.config, [rotates]: madeSecret ?? null } : wanted.config;
    const stored = this.configs.checkAndSeal(type, id, config);
    return {
      content: {
        name: wanted.name,
        enabled: wanted.enabled ?? true,
        events: eventsOf(wanted.events ?? type.defaultEvents),
        minSeverity: wanted.min_severity ?? 'low',
        newIncidentMinSeverity: newIncidentMinSeverityOf(type, wanted),
        ...stored,
        formerSecret: undefined,
        formerSecretUntil: undefined,
      },
      madeSecret,
    };
  }

  /** The content after a partial change of a channel that is locked. */
  after(before: SealedChannel, change: ChannelChange): ChangedContent {
    const type = CHANNEL_TYPES.named(before.type);
    const madeSecret = change.rotate_secret ? newSecretOf(type, change.config) : undefined;
    const config =
      madeSecret === undefined
        ? change.config
        : { ...change.config, [type.rotates ?? '']: madeSecret };
    const stored = config && this.configs.change(type, before.id, before, config);
    const { enabled = before.enabled } = change;
    // A channel whose secrets are lost is enabled again only with new ones.
    if (enabled && !before.enabled && !stored) this.requireWhole(type, before);
    const { config: readable, secrets, secret_names } = stored ?? before;
    const content: ChannelContent = {
      name: change.name ?? before.name,
      enabled,
      events: change.events ? eventsOf(change.events) : before.events,
      minSeverity: change.min_severity ?? before.minSeverity,
      newIncidentMinSeverity: change.new_incident_min_severity ?? before.newIncidentMinSeverity,
      config: readable,
      secrets,
      secret_names,
      ...this.formerAfter(type, before, config, change.revoke_old_secret),
    };
    return { content, madeSecret };
  }

  /** For the audit trail; empty where the type is of another release, or the address is lost with its key. */
  sentTo(channel: SealedChannel): string[] {
    return (
      CHANNEL_TYPES.find(channel.type)?.sentTo(this.configs.openReadable(channel.id, channel)) ?? []
    );
  }

  private requireWhole(type: ChannelType, before: SealedChannel): void {
    this.configs.checkAndSeal(type, before.id, this.configs.open(before.id, before));
  }

  /** The newest two are valid: with a new secret in the time of overlap, the oldest ends at once. */
  private formerAfter(
    { rotates }: ChannelType,
    before: SealedChannel,
    config: Config | undefined,
    revoke = false,
  ): Pick<ChannelContent, 'formerSecret' | 'formerSecretUntil'> {
    const none = { formerSecret: undefined, formerSecretUntil: undefined };
    if (rotates === undefined || revoke) return none;
    const { formerSecret, formerSecretUntil } = before;
    const kept = { formerSecret, formerSecretUntil };
    if (!isObject(config) || !Object.hasOwn(config, rotates)) return kept;
    const present = this.configs.open(before.id, before)[rotates];
    if (typeof present !== 'string' || present === config[rotates]) return kept;
    return {
      formerSecret: this.configs.sealFormer(before.id, present),
      formerSecretUntil: new Date(this.clock.now().getTime() + OVERLAP_MS),
    };
  }
}

/** The default events of people hold new incidents from `high` on. Whoever chooses events or a severity decides. */
function newIncidentMinSeverityOf(
  { isForPeople }: ChannelType,
  { events, min_severity, new_incident_min_severity }: NewChannel,
): Severity | undefined {
  const byDefault = isForPeople && !events ? (min_severity ?? 'high') : undefined;
  return new_incident_min_severity ?? byDefault;
}

function newSecretOf(type: ChannelType, given: Config = {}): string {
  const made = type.newSecret();
  if (made === undefined) {
    const message = `rotate_secret is not for channels of the type ${type.name}: their secrets are given by the receiver.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  // One of the two would be lost, and whoever gave it would wait for signatures by it.
  if (Object.hasOwn(given, type.rotates ?? '')) {
    const field = `config.${type.rotates}`;
    const message = `Give ${field}, or rotate_secret, which makes one: not both.`;
    throw ValidationError.of('rotate_secret', 'is_in', message);
  }
  return made;
}

/** In the order of the list, each once. */
function eventsOf(chosen: readonly NotifiedEvent[]): NotifiedEvent[] {
  if (chosen.length > 0) return NOTIFIED_EVENTS.filter((event) => chosen.includes(event));
  throw ValidationError.of('events', 'is_not_empty', 'events must name at least one event.');
}
