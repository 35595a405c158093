import type { Config, ConfigSchema } from '../../targets/target-config.js';
import { type ConfigDefinition, type Destination, originsOf } from '../../targets/target-check.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import type { Targets } from '../../platform/net/targets.js';
import type { PartlySent } from '../delivery.js';
import { EVENTS_FOR_PEOPLE, type Message, type NotifiedEvent } from '../notification.js';

/** The receiver has it. */
export interface Delivered {
  readonly kind: 'delivered';
}

/** The receiver rejects this message permanently. Other messages may still be accepted. */
export interface Refused {
  readonly kind: 'refused';
  /** Shown to admins, without secrets. */
  readonly why: string;
}

/** The delivery is retried: the receiver did not answer, or an admin can correct the cause (a revoked token). */
export interface Failed {
  readonly kind: 'failed';
  readonly why: string;
  /** Retry-After of the receiver. The whole channel waits that long. */
  readonly retryAfterMs?: number;
  /** The receiver asks for a lower rate. The channel slows down and does not count as failing. */
  readonly isBusy?: true;
  /** Recipients who have the message. It is retried for the others, and other messages do not wait. */
  readonly holders?: readonly string[];
}

export type Outcome = Delivered | Refused | Failed;

/** One configured channel, ready to deliver. */
export interface Channel {
  /**
   * Makes one attempt, without retries. After an abort the outcome is ignored. An exception counts as `failed`.
   *
   * @param partlySent who has the message from earlier attempts
   */
  deliver(message: Message, signal: AbortSignal, partlySent?: PartlySent): Promise<Outcome>;
}

export interface ConnectOptions {
  /** Previous secret of the field that `rotates`, while it is valid. */
  readonly formerSecret?: string;
}

/** A type of channel, such as `slack`: a class in its own folder, listed in ChannelTypes. Its schema marks the secret fields. */
export abstract class ChannelType implements ConfigDefinition {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly config: ConfigSchema;
  /** Fields that say where secrets are sent. If one changes, the secrets must be given again. */
  abstract readonly destinations: readonly Destination[];
  /**
   * Field whose previous secret stays valid for a day, because the receiver has to learn the new one first. If the request has no
   * secret, the service generates one (`newSecret`) and shows it once.
   */
  readonly rotates?: string;
  /** Whether people read the messages: then few events are sent by default. A program gets every event. */
  readonly isForPeople: boolean = true;
  /** Default of `events`. */
  readonly defaultEvents: readonly NotifiedEvent[] = EVENTS_FOR_PEOPLE;

  newSecret?(): string;

  /** Destinations for the audit trail: origins only, because the rest of a URL may be secret. `config` includes secrets, unless they are lost. */
  sentTo(config: Config): string[] {
    return originsOf(this, config);
  }

  problems(_config: Config, _path: string, _targets: Targets): FieldError[] {
    return [];
  }

  /** @param config valid by the schema, with its secrets */
  abstract connect(config: Config, more: ConnectOptions): Channel;
}

/** Schema of the configuration in requests. A field that the service can generate is not required. */
export function givenSchema(type: Pick<ChannelType, 'config' | 'rotates'>): ConfigSchema {
  const required = type.config.required.filter((field) => field !== type.rotates);
  return { ...type.config, required };
}
