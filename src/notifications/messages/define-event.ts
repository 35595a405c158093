import type { Severity } from '../../incidents/incident.js';
import type { DataType } from './event-data.js';

/** Named values of a message. Each value is plain text that may come from an attacker. Empty values are omitted. */
export type Facts = Readonly<Record<string, string | undefined>>;

/** Plain text for people. Each channel escapes and defangs the text for its receiver. */
export interface Words {
  readonly headline: string;
  /** Subject of the event, such as a title. Channels show the subject in the headline, after the severity. */
  readonly about?: string;
  readonly facts: Facts;
  readonly request?: string;
  readonly url?: string;
}

/** Changes of PagerDuty alerts, in the order of sending. Each value is the key of an alert. */
export type Alerts = Readonly<Partial<Record<'trigger' | 'acknowledge' | 'resolve', string>>>;

/** Event that channels send. A change that breaks receivers needs a new event name. */
export interface EventDefinition<Data> {
  readonly description: string;
  readonly data: DataType<Data>;
  /** True if channels for people receive the event by default, because it may require an action by people. */
  readonly forPeople?: true;
  /** Severity of the PagerDuty alert if the event has no incident. Default: medium. */
  readonly severity?: Severity;
  readonly hasNoPage?: true;
  words(data: Data): Words;
  /** Each approval has its own alert, and only people acknowledge: PagerDuty pages nobody about acknowledged alerts. */
  alerts(data: Data, eventId: string): Alerts;
}

export function defineEvent<Data>(definition: EventDefinition<Data>): EventDefinition<Data> {
  return definition;
}
