import { ApiSchema } from '@nestjs/swagger';
import { SEVERITIES, type Severity } from '../../incidents/incident.js';
import {
  Choice,
  type FieldOptions,
  Id,
  Instant,
  Nested,
  Text,
} from '../../platform/validation/fields.js';
import type { Delivery } from '../delivery.js';

/** Domain event of a delivery, with the data for its message. */
export interface SourceEvent extends Pick<
  Delivery,
  'event_id' | 'occurred_at' | 'subject_id' | 'payload' | 'incident_id'
> {
  readonly incident_number?: string;
  readonly public_url?: string;
}

/** Fact of a message. The value is plain text, and may come from an attacker. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** Plain text for people. Channels escape and defang it for their receivers. */
export interface Words {
  readonly headline: string;
  /** Subject of the event, such as a title. Channels show the subject in the headline, after the severity. */
  readonly about?: string;
  readonly facts: readonly Fact[];
  readonly request?: string;
  readonly url?: string;
}

export type Facts = Readonly<Record<string, string | undefined>>;

export interface EventWords extends Pick<Words, 'headline' | 'about' | 'request'> {
  readonly facts: Facts;
}

export interface AlertChange {
  readonly action: 'trigger' | 'acknowledge' | 'resolve';
  readonly key: string;
}

const change = (action: AlertChange['action']) => (key: string) => [{ action, key }];
export const trigger = change('trigger');
export const acknowledge = change('acknowledge');
export const resolve = change('resolve');

/** Event that channels send. A change that breaks receivers needs a new event name. */
export interface EventDefinition<Data> {
  readonly description: string;
  readonly data: DataType<Data>;
  /** Fields of the domain event that differ from EXAMPLE, in the example of the contract. */
  readonly example?: object;
  /** True if channels for people receive the event by default, because people may have to act. */
  readonly forPeople?: true;
  /** Severity of the PagerDuty alert if the event has no incident. Default: medium. */
  readonly severity?: Severity;
  /** True if messages have no link to a page. */
  readonly hasNoPage?: true;
  words(data: Data): EventWords;
  /**
   * Changes of PagerDuty alerts. An approval has its own alert, to page people who have acknowledged the incident. Only a
   * change by a person acknowledges an alert, because PagerDuty pages nobody for an acknowledged alert.
   */
  alerts(data: Data, eventId: string): readonly AlertChange[];
}

export function defineEvent<Data>(definition: EventDefinition<Data>): EventDefinition<Data> {
  return definition;
}

type Class = new () => object;

export interface DataType<Data> {
  readonly schema: Class;
  valuesOf(source: SourceEvent): Data;
}

export interface DataField<Value> {
  readonly decorate: (options: FieldOptions) => PropertyDecorator;
  readonly description?: string;
  readonly optional?: true;
  readonly from?: (source: SourceEvent) => Value;
}

export type DataOf<Type> = Type extends DataType<infer Data> ? Data : never;

type Fields = Readonly<Record<string, DataField<unknown>>>;
type ValuesOf<Of extends Fields> = {
  readonly [Name in keyof Of]: Of[Name] extends DataField<infer Value> ? Value : never;
};

export function dataType<const Of extends Fields>(
  name: string,
  description: string,
  fields: Of,
): DataType<ValuesOf<Of>> {
  const schema = class {};
  for (const [key, { decorate, description, optional }] of Object.entries(fields)) {
    decorate({ optional, ...(description && { description }) })(schema.prototype, key);
  }
  ApiSchema({ name, description })(schema);
  return {
    schema,
    valuesOf: (source) => {
      const values = Object.entries(fields).map(([key, { from }]) => [
        key,
        from ? from(source) : (source.payload as Record<string, unknown>)[key],
      ]);
      return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as ValuesOf<Of>;
    },
  };
}

export const field = <Value>(
  decorate: DataField<Value>['decorate'],
  description?: string,
  from?: DataField<Value>['from'],
): DataField<Value> => ({ decorate, description, from });

export const text = (description?: string) => field<string>(Text, description);
export const renamed = (nameInPayload: string, description?: string) =>
  field(Text, description, ({ payload }) => (payload as Record<string, string>)[nameInPayload]!);
export const instant = (description?: string) => field<string>(Instant, description);
export const choice = <Word extends string>(
  name: string,
  words: readonly Word[],
  description?: string,
) => field<Word>((options) => Choice(name, words, options), description);
export const severity = (description?: string) => choice('Severity', SEVERITIES, description);

export const id = (name: string, from?: DataField<string>['from']) =>
  field<string>((options) => Id(name, options), undefined, from);
export const subjectOf = ({ subject_id }: SourceEvent): string => subject_id;
export const subjectId = (name: string) => id(name, subjectOf);
export const incidentNumber = field(Text, undefined, ({ incident_number = '' }) => incident_number);
export const nested = <Data>(
  type: DataType<Data>,
  from = (source: SourceEvent) => type.valuesOf(source),
) => field((options) => Nested(() => type.schema, options), undefined, from);

export const maybe = <Value>(
  field: DataField<Value>,
  description = field.description,
): DataField<Value | undefined> => ({ ...field, description, optional: true });

const LINKED = [
  'incident',
  'action',
  'connector',
  'notification_channel',
  'webhook_event',
] as const;

export const apiUrl = (kind: (typeof LINKED)[number], idOf = subjectOf) =>
  maybe(
    field(
      (options) => Text({ ...options, format: 'uri' }),
      'URL in the API. Absent if PUBLIC_URL is not set.',
      (source): string | undefined =>
        source.public_url &&
        `${source.public_url}/api/${kind.replace('_', '-')}s/${encodeURIComponent(idOf(source))}`,
    ),
  );

/** Page of the first object of `data` (platform/docs/browser/linked.mjs). The id is in the query: the login drops a fragment. */
export function pageUrl(publicUrl: string | undefined, data: object): string | undefined {
  const linked = Object.entries<{ readonly id: string }>({ ...data }).flatMap(([name, about]) => {
    const kind = LINKED.find((one) => one === name || one === `notification_${name}`);
    return kind ? [`?${kind}=${encodeURIComponent(about.id)}`] : [];
  });
  return publicUrl && `${publicUrl}/docs${linked[0] ?? ''}`;
}
