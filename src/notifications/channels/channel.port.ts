import type { Config, ConfigSchema } from '../../connectors/config/config-schema.js';
import {
  type ConfigDefinition,
  type Destination,
  originsOf,
} from '../../connectors/config/destinations.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { EVENTS_FOR_PEOPLE, type Message, type NotifiedEvent } from '../notification.js';

/** The receiver has it. */
export interface Delivered {
  readonly kind: 'delivered';
}

/** The receiver will never take this message: another attempt is of no use. Other messages may still go through. */
export interface Refused {
  readonly kind: 'refused';
  /** For people, and without secrets: an admin reads it. */
  readonly why: string;
}

/** It is tried again later: nobody answered, or what is wrong somebody may mend (a token that was revoked). */
export interface Failed {
  readonly kind: 'failed';
  readonly why: string;
  /** How long the receiver asked to wait (Retry-After); the whole channel waits so long. */
  readonly retryAfterMs?: number;
  /** It takes what comes, but not so fast: the channel slows down, and nothing counts as broken. */
  readonly isBusy?: true;
  /** Some of the people behind the channel have it: it is tried again for the rest, and no other message waits for that. */
  readonly isPartial?: true;
}

export type Outcome = Delivered | Refused | Failed;

/** One configured channel, ready to deliver. */
export interface Channel {
  /**
   * One attempt, without attempts of its own. After the signal is aborted nobody waits for the outcome. It should not
   * throw; what it throws counts as failed.
   */
  deliver(message: Message, signal: AbortSignal): Promise<Outcome>;
}

export interface ConnectOptions {
  /** Which channel it is: what is kept from one attempt for the next belongs to it alone. */
  readonly channelId: string;
  /** Of the field that `rotates`, as long as it is valid. */
  readonly formerSecret?: string;
}

/**
 * A type of channel, such as `slack`. A new one is a class in a folder of its own and a line in ChannelTypes. Its schema
 * says what a configuration may hold, which of it is secret, and what people read about it.
 */
export abstract class ChannelType implements ConfigDefinition {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly schema: ConfigSchema;
  /** Where secrets are sent: when one of these changes, the secrets must be given again. */
  abstract readonly destinations: readonly Destination[];
  /**
   * The field whose secret stays valid for a day beside a new one, because the receiver checks by it and has to learn the new
   * one first. When nobody gives one, the service makes it (`newSecret`) and shows it once.
   */
  readonly rotates?: string;
  /** People read its messages, so they are few by default. A program takes every event. */
  readonly isForPeople: boolean = true;
  /** Events of a channel that is created without `events`. */
  readonly defaultEvents: readonly NotifiedEvent[] = EVENTS_FOR_PEOPLE;

  newSecret?(): string;

  /**
   * Where its messages go, for the audit trail: origins, and never the rest of an address, which may be a secret. With its
   * secrets, unless they are lost.
   */
  sentTo(config: Config): string[] {
    return originsOf(this, config);
  }

  problems(_config: Config, _path: string): FieldError[] {
    return [];
  }

  /** @param config checked by the schema, and with its secrets */
  abstract connect(config: Config, more: ConnectOptions): Channel;
}

/** What callers give: what the service makes when it is missing, nobody has to. */
export function givenSchema(type: Pick<ChannelType, 'schema' | 'rotates'>): ConfigSchema {
  const required = type.schema.required.filter((field) => field !== type.rotates);
  return { ...type.schema, required };
}
