import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsString,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { SAYS_SOMETHING } from '../text.js';

/*
 * One decorator per kind of field. It validates the field of a request and describes it in the contract, so that the
 * two cannot differ. Fields of responses use the same decorators but are not validated.
 */

/** Options of every field. */
export interface FieldOptions {
  /** The field may be absent, but not null. */
  readonly optional?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  /** Overrides of the contract, if it differs from the rules. */
  readonly contract?: ApiPropertyOptions;
}

/** A custom kind of field: its schema and its rules. Errors appear in the order of the rules. */
export function Field(
  { optional = false, contract, ...said }: FieldOptions,
  kind: ApiPropertyOptions,
  ...rules: readonly PropertyDecorator[]
): PropertyDecorator {
  // Swagger uses `required` for the fields of an object, so an object field needs `selfRequired`.
  const required = kind.type === 'object' ? { selfRequired: !optional } : { required: !optional };
  const options = { ...kind, ...said, ...contract, ...required } as ApiPropertyOptions;
  return applyDecorators(...rules, ...(optional ? [Optional()] : []), ApiProperty(options));
}

export const CONVERSION = Symbol('conversion');

/** Converts the value of a field before its validation. */
export const Convert = (convert: (value: unknown) => unknown): PropertyDecorator =>
  Reflect.metadata(CONVERSION, convert);

/** Marks the schema of a class that reads null as absent. */
export const NULL_IS_ABSENT_EXTENSION = 'x-null-is-absent';
const NULL_IS_ABSENT = Symbol('null is absent');

/**
 * Reads null in a field of the class as an absent field. Java clients of OpenAPI Generator send an empty list for an
 * unset list, unless the contract allows null.
 */
export const NullIsAbsent = (): ClassDecorator =>
  applyDecorators(
    Reflect.metadata(NULL_IS_ABSENT, true),
    ApiExtension(NULL_IS_ABSENT_EXTENSION, true),
  );

export const readsNullAsAbsent = (type: Class): boolean =>
  Reflect.hasMetadata(NULL_IS_ABSENT, type);

/** Unlike IsOptional of class-validator, null is rejected. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Message if the text does not match the pattern. */
  readonly message?: string;
  readonly format?: string;
}

export function Text({
  min,
  max,
  pattern,
  message,
  format,
  ...options
}: TextOptions = {}): PropertyDecorator {
  return Field(
    options,
    { type: 'string', minLength: min, maxLength: max, pattern: pattern?.source, format },
    ...(pattern ? [Matches(pattern, { message })] : []),
    ...lengthRules(min, max),
    IsString(),
  );
}

function lengthRules(min: number | undefined, max: number | undefined): PropertyDecorator[] {
  if (min !== undefined) return [Length(min, max)];
  return max === undefined ? [] : [MaxLength(max)];
}

/** Text that is not blank. The pattern begins with `^`, because clients in Python match only at the start. */
export function NotBlank(options: TextOptions & { readonly max: number }): PropertyDecorator {
  const contract = { ...options.contract, minLength: 1 };
  return Text({ ...options, pattern: new RegExp(SAYS_SOMETHING), contract });
}

/** A unique name that people choose. */
export function GivenName(options: FieldOptions = {}): PropertyDecorator {
  return Text({
    ...options,
    max: 100,
    pattern: /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u,
    message: 'name must be text without control characters, not framed by spaces',
    // The syntax of this pattern differs between languages.
    contract: { minLength: 1, pattern: undefined },
    description: 'Unique.',
  });
}

/** The reason of a change, for readers of the records. */
export function Reason(options: Omit<TextOptions, 'max'> & { readonly max: number }) {
  return NotBlank({ message: 'reason must say something', ...options });
}

interface TextsOptions extends FieldOptions {
  readonly maxItems?: number;
  /** Maximum characters per text. */
  readonly maxLength?: number;
  /** Pattern of each text. */
  readonly pattern?: RegExp;
  readonly message?: string;
}

export function Texts({
  maxItems,
  maxLength,
  pattern,
  message,
  ...options
}: TextsOptions = {}): PropertyDecorator {
  const items = { type: 'string', maxLength, pattern: pattern?.source };
  return Field(
    options,
    { type: 'array', items, maxItems },
    ...(pattern ? [Matches(pattern, { each: true, message })] : []),
    ...(maxLength === undefined ? [] : [MaxLength(maxLength, { each: true })]),
    IsString({ each: true }),
    ...listRules(maxItems).reverse(),
  );
}

function listRules(maxItems: number | undefined): PropertyDecorator[] {
  return [IsArray(), ...(maxItems === undefined ? [] : [ArrayMaxSize(maxItems)])];
}

/** One of several values. `name` is the name of the set in the contract. */
export function Choice(
  name: string,
  values: readonly string[],
  options: FieldOptions = {},
): PropertyDecorator {
  return Field(options, { enum: [...values], enumName: name }, IsIn(values));
}

export function Choices(
  name: string,
  values: readonly string[],
  { maxItems, ...options }: FieldOptions & { readonly maxItems?: number } = {},
): PropertyDecorator {
  return Field(
    options,
    { enum: [...values], enumName: name, isArray: true, maxItems },
    IsIn(values, { each: true }),
    ...listRules(maxItems).reverse(),
  );
}

/*
 * Fields of responses whose set of values may grow: older clients must accept new values. No schema expresses that for
 * all generators, so the field is text and the known values are listed beside it (ADR 0035).
 */

export function OpenChoice(
  name: string,
  known: readonly string[],
  options: FieldOptions = {},
): PropertyDecorator {
  return Field(options, openSet(name, known), IsString());
}

export function OpenChoices(
  name: string,
  known: readonly string[],
  options: FieldOptions = {},
): PropertyDecorator {
  const kind = { type: 'array', items: openSet(name, known) } as const;
  return Field(options, kind, IsString({ each: true }), IsArray());
}

const openSet = (name: string, known: readonly string[]) => ({
  title: name,
  type: 'string' as const,
  'x-extensible-enum': [...known],
});

interface NumberOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

export function WholeNumber({ min, max, ...options }: NumberOptions = {}): PropertyDecorator {
  const kind = integer(min, max);
  return Field(options, kind, ...rangeRules(min, max), IsInt());
}

const GREATEST_INT32 = 2_147_483_647;

/** Has a format, because clients in many languages choose the size of the number by it. */
export const integer = (minimum?: number, maximum?: number) => ({
  type: 'integer' as const,
  format: maximum !== undefined && maximum <= GREATEST_INT32 ? 'int32' : 'int64',
  minimum,
  maximum,
});

export function Decimal({ min, max, ...options }: NumberOptions = {}): PropertyDecorator {
  const kind = { type: 'number', format: 'double', minimum: min, maximum: max } as const;
  const rule = IsNumber({ allowNaN: false, allowInfinity: false });
  return Field(options, kind, ...rangeRules(min, max), rule);
}

function rangeRules(min: number | undefined, max: number | undefined): PropertyDecorator[] {
  return [...(max === undefined ? [] : [Max(max)]), ...(min === undefined ? [] : [Min(min)])];
}

export function Flag(options: FieldOptions = {}): PropertyDecorator {
  return Field(options, { type: 'boolean' }, IsBoolean());
}

/** Fields of responses that are never false, such as `deleted`. Many generators would not read an enum as boolean. */
export function AlwaysTrue(): PropertyDecorator {
  return Flag({ description: 'Always true.', example: true });
}

/** An ISO 8601 date and time with a zone, on an existing day. */
export function Instant(options: FieldOptions = {}): PropertyDecorator {
  const rule = ValidateBy({
    name: 'isIsoTime',
    validator: {
      validate: isIsoTime,
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be an ISO 8601 date and time with a zone, such as 2026-01-31T09:30:00Z`,
    },
  });
  return Field(options, { type: 'string', format: 'date-time' }, rule);
}

export const ID_EXAMPLE = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

/** A UUID, in upper or lower case. `name` is the name of this kind of id in the contract. */
export function Id(name: string, options: FieldOptions = {}): PropertyDecorator {
  const kind = { title: name, type: 'string', format: 'uuid', example: ID_EXAMPLE } as const;
  return Field(options, kind, IsUUID('loose'));
}

/** A JSON object of any content, not null and not an array. It stays unchanged. */
export function JsonObject(options: FieldOptions = {}): PropertyDecorator {
  return Field(options, { type: 'object', additionalProperties: true }, IsPlainObject());
}

/** Fields of responses: an object with string values. */
export function TextMap(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    options,
    { type: 'object', additionalProperties: { type: 'string' } },
    IsPlainObject(),
  );
}

type Class = new () => object;

/** Maximum length of a list. A longer list is rejected for its length only. */
export const LONGEST_LIST = 1_000;

/** Swagger treats a function as a lazy class, not as a class, if it is called `type`. */
const lazily = (shape: () => Class) => ({ type: () => shape() });

export function Nested(type: () => Class, options: FieldOptions = {}): PropertyDecorator {
  return Field(options, lazily(type), IsPlainObject(), ValidateNested());
}

export function NestedList(
  type: () => Class,
  { maxItems, ...options }: FieldOptions & { readonly maxItems?: number } = {},
): PropertyDecorator {
  if (maxItems && maxItems > LONGEST_LIST) {
    throw new Error(`A list of more than ${LONGEST_LIST} items.`);
  }
  return Field(
    options,
    { ...lazily(type), isArray: true, maxItems },
    ...listRules(maxItems),
    IsPlainObject({ each: true }),
    ValidateNested({ each: true }),
  );
}

/** Reads the class of a field that Nested or NestedList declares. */
export function nestedTypeOf(prototype: object, name: string): Class | undefined {
  const { type } = (Reflect.getMetadata('swagger/apiModelProperties', prototype, name) ?? {}) as {
    readonly type?: unknown;
  };
  // Other fields give the name of a type, or a class.
  return typeof type === 'function' && type.name === 'type' ? (type as () => Class)() : undefined;
}

/** ValidateNested alone accepts an array for an object, and one object for a list. */
const IsPlainObject = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isJsonObject',
      validator: {
        validate: isPlainObject,
        defaultMessage: ({ property, value } = {} as never) =>
          `${property}${options?.each ? firstWrong(value) : ''} must be an object`,
      },
    },
    options,
  );

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The index of the first invalid item, such as `.0`. */
function firstWrong(list: unknown): string {
  const at = Array.isArray(list) ? list.findIndex((item) => !isPlainObject(item)) : -1;
  return at < 0 ? '' : `.${at}`;
}

const ZONE = String.raw`(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?`;
const HOUR = String.raw`(?:[01]\d|2[0-3])`;
const MINUTE = String.raw`[0-5]\d`;
/** 60 is a leap second. */
const SECOND = String.raw`(?:[0-5]\d|60)(?:[.,]\d+)?`;
const EXTENDED = String.raw`(\d{4})-(\d\d)-(\d\d)(?:T${HOUR}(?::${MINUTE}(?::${SECOND})?)?${ZONE})?`;
const BASIC = String.raw`(\d{4})(\d\d)(\d\d)(?:T${HOUR}(?:${MINUTE}(?:${SECOND})?)?${ZONE})?`;
const FORMS = [EXTENDED, BASIC].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * Whether the text is an ISO 8601 date on an existing day, with or without a time, as other systems send it. Times of
 * this service are stricter: see isIsoTime.
 */
export function isIso8601(text: string): boolean {
  const match = FORMS.map((form) => form.exec(text)).find((found) => found !== null);
  if (!match) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The form of ISO 8601 that this service accepts: to the second, with a zone, in a year that PostgreSQL supports. */
const MOMENT = /^(?!0000)[\d-]{10}T\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/;

/** Whether the value is an ISO 8601 date and time with a zone, on an existing day. */
export function isIsoTime(value: unknown): value is string {
  return typeof value === 'string' && MOMENT.test(value) && isIso8601(value);
}

const TYPES = ['string', 'number', 'boolean'];

/** A JSON string, number or boolean. */
export const Scalar = (options: FieldOptions) =>
  Field(
    options,
    // Without a name: OpenAPI Generator warns about a named union of unnamed types.
    {
      oneOf: [{ type: 'string' }, { type: 'number', format: 'double' }, { type: 'boolean' }],
    },
    ValidateBy({
      name: 'isScalar',
      validator: {
        validate: (value) => TYPES.includes(typeof value),
        defaultMessage: ({ property } = {} as never) =>
          `${property} must be a string, a number or a boolean`,
      },
    }),
  );
