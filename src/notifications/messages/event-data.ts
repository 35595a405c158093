import { ApiSchema } from '@nestjs/swagger';
import { SEVERITIES } from '../../incidents/incident.js';
import {
  Choice,
  type FieldOptions,
  Id,
  Instant,
  Nested,
  Text,
} from '../../platform/validation/fields.js';
import type { Delivery } from '../delivery.js';

/* Fields of event data. Each field defines its schema in the contract, and reads its value from the domain event. */

export interface SourceEvent extends Pick<
  Delivery,
  'event_id' | 'occurred_at' | 'subject_id' | 'payload' | 'incident_id'
> {
  readonly incident_number?: string;
  readonly public_url?: string;
}

type Read<Value> = (source: SourceEvent) => Value;

interface DataField<Value> {
  readonly decorate: (options: FieldOptions) => PropertyDecorator;
  readonly description?: string;
  readonly optional?: true;
  /** Reads the value. Default: reads the field of the domain event with the same name. */
  readonly from?: Read<Value>;
}

export interface DataType<Data> {
  readonly schema: new () => object;
  readonly valuesOf: Read<Data>;
}

export type DataOf<Type> = Type extends DataType<infer Data> ? Data : never;

type Fields = Readonly<Record<string, DataField<unknown>>>;
type ValuesOf<Of extends Fields> = {
  readonly [Name in keyof Of]: Of[Name] extends DataField<infer Value> ? Value : never;
};

export function data<const Of extends Fields>(
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
  from?: Read<Value>,
): DataField<Value> => ({ decorate, description, from });

export const maybe = <Value>(field: DataField<Value>): DataField<Value | undefined> => ({
  ...field,
  optional: true,
});

export const text = (description?: string, from?: Read<string>) => field(Text, description, from);
export const renamed = (nameInPayload: string, description?: string) =>
  text(description, ({ payload }) => (payload as Record<string, string>)[nameInPayload]!);
export const instant = (description?: string, from?: Read<string>) =>
  field(Instant, description, from);
export const choice = <Word extends string>(
  name: string,
  words: readonly Word[],
  description?: string,
) => field<Word>((options) => Choice(name, words, options), description);
export const severity = (description?: string) => choice('Severity', SEVERITIES, description);

export const id = (name: string, from?: Read<string>) =>
  field((options) => Id(name, options), undefined, from);
export const subjectOf = ({ subject_id }: SourceEvent): string => subject_id;
export const subjectId = (name: string) => id(name, subjectOf);
export const incidentNumber = text(undefined, ({ incident_number = '' }) => incident_number);
export const nested = <Data>({ schema, valuesOf }: DataType<Data>) =>
  field((options) => Nested(() => schema, options), undefined, valuesOf);

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

/** Returns the page of the first object in `data`. The id is in the query, because the login page drops fragments. */
export function pageUrl(publicUrl: string | undefined, data: object): string | undefined {
  const linked = Object.entries<{ readonly id: string }>({ ...data }).flatMap(([name, about]) => {
    const kind = LINKED.find((one) => one === name || one === `notification_${name}`);
    return kind ? [`?${kind}=${encodeURIComponent(about.id)}`] : [];
  });
  return publicUrl && `${publicUrl}/docs${linked[0] ?? ''}`;
}
