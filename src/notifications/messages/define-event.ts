import type { Severity } from '../../incidents/incident.js';
import type { DataType } from './event-data.js';

/** Named values of a message. Each is plain text, and may come from an attacker. Empty values are omitted. */
export type Facts = Readonly<Record<string, string | undefined>>;

/** Plain text for people. Channels escape and defang it for their receivers. */
export interface Words {
  readonly headline: string;
  /** Subject of the event, such as a title. Channels show the subject in the headline, after the severity. */
  readonly about?: string;
  readonly facts: Facts;
  readonly request?: string;
  readonly url?: string;
}

/** Changes of PagerDuty alerts, in their order, with the key of each alert. */
export type Alerts = Readonly<Partial<Record<'trigger' | 'acknowledge' | 'resolve', string>>>;

/** Event that channels send. A change that breaks receivers needs a new event name. */
export interface EventDefinition<Data> {
  readonly description: string;
  readonly data: DataType<Data>;
  /** True if channels for people receive the event by default, because people may have to act. */
  readonly forPeople?: true;
  /** Severity of the PagerDuty alert if the event has no incident. Default: medium. */
  readonly severity?: Severity;
  /** True if messages have no link to a page. */
  readonly hasNoPage?: true;
  words(data: Data): Words;
  /**
   * An approval has its own alert, to page people who have acknowledged the incident. Only a change by a person acknowledges an
   * alert, because PagerDuty pages nobody for an acknowledged alert.
   */
  alerts(data: Data, eventId: string): Alerts;
}

export function defineEvent<Data>(definition: EventDefinition<Data>): EventDefinition<Data> {
  return definition;
}
