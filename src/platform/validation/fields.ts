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

/* One decorator validates a request field and describes it in OpenAPI. Fields of responses are not validated. */

export interface FieldOptions {
  /** The field may be absent, but not null. */
  readonly optional?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  /** Properties of the OpenAPI schema that differ from the rules. */
  readonly contract?: ApiPropertyOptions;
}

/** Defines a kind of field by its schema and its rules. Errors appear in the order of the rules. */
export function Field(
  { optional = false, contract, ...said }: FieldOptions,
  kind: ApiPropertyOptions,
  ...rules: readonly (PropertyDecorator | false | undefined)[]
): PropertyDecorator {
  // Swagger uses `required` for the fields inside an object, so a field with an object needs `selfRequired`.
  const required = kind.type === 'object' ? { selfRequired: !optional } : { required: !optional };
  const options = { ...kind, ...said, ...contract, ...required } as ApiPropertyOptions;
  return applyDecorators(
    ...rules.filter((rule) => rule instanceof Function),
    ...(optional ? [Optional()] : []),
    ApiProperty(options),
  );
}

export const Rule = (
  name: string,
  validate: (value: unknown) => boolean,
  message: (property: string, value: unknown) => string,
  options?: ValidationOptions,
): PropertyDecorator =>
  ValidateBy(
    {
      name,
      validator: {
        validate,
        defaultMessage: ({ property, value } = {} as never) => message(property, value),
      },
    },
    options,
  );

/** Rejects null, unlike IsOptional of class-validator. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  readonly message?: string;
  readonly format?: string;
}

export function Text(given: TextOptions = {}): PropertyDecorator {
  const { min, max, pattern, message, format, ...options } = given;
  return Field(
    options,
    { type: 'string', minLength: min, maxLength: max, pattern: pattern?.source, format },
    pattern && Matches(pattern, { message }),
    min === undefined ? max !== undefined && MaxLength(max) : Length(min, max),
    IsString(),
  );
}

/** Text that is not blank. Begins with `^`, because Python clients match a pattern only at the start. */
export const NotBlank = (options: TextOptions & { readonly max: number }) =>
  Text({
    ...options,
    pattern: new RegExp(SAYS_SOMETHING),
    contract: { ...options.contract, minLength: 1 },
  });

export const GivenName = (options: FieldOptions = {}) =>
  Text({
    ...options,
    max: 100,
    pattern: /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u,
    message:
      'name must be text without control characters, and without spaces at the beginning and end',
    // Omits the pattern, because the syntax of patterns differs between languages.
    contract: { minLength: 1, pattern: undefined },
    description: 'Unique.',
  });

export const Reason = (options: Omit<TextOptions, 'max'> & { readonly max: number }) =>
  NotBlank({ message: 'reason must not be blank', ...options });

interface TextsOptions extends ListOptions {
  readonly maxLength?: number;
  readonly pattern?: RegExp;
  readonly message?: string;
}

export function Texts(given: TextsOptions = {}): PropertyDecorator {
  const { maxItems, maxLength, pattern, message, ...options } = given;
  return Field(
    options,
    { type: 'array', items: { type: 'string', maxLength, pattern: pattern?.source }, maxItems },
    pattern && Matches(pattern, { each: true, message }),
    maxLength !== undefined && MaxLength(maxLength, { each: true }),
    IsString({ each: true }),
    ...listRules(maxItems),
  );
}

/** One of several values. `name` is the name of this set of values in the OpenAPI document. */
export const Choice = (name: string, values: readonly string[], options: FieldOptions = {}) =>
  Field(options, { enum: [...values], enumName: name }, IsIn(values));

interface ListOptions extends FieldOptions {
  readonly maxItems?: number;
}

export const Choices = (
  name: string,
  values: readonly string[],
  { maxItems, ...options }: ListOptions = {},
) =>
  Field(
    options,
    { enum: [...values], enumName: name, isArray: true, maxItems },
    IsIn(values, { each: true }),
    ...listRules(maxItems),
  );

const listRules = (maxItems: number | undefined) => [
  maxItems !== undefined && ArrayMaxSize(maxItems),
  IsArray(),
];

/* For a growing set of values. No schema expresses this for all generators, so the field is text (ADR 0035). */

export const OpenChoice = (name: string, known: readonly string[], options: FieldOptions = {}) =>
  Field(options, openSet(name, known), IsString());

export const OpenChoices = (name: string, known: readonly string[], options: FieldOptions = {}) =>
  Field(
    options,
    { type: 'array', items: openSet(name, known) },
    IsString({ each: true }),
    IsArray(),
  );

const openSet = (name: string, known: readonly string[]) => ({
  title: name,
  type: 'string' as const,
  'x-extensible-enum': [...known],
});

interface NumberOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

export const WholeNumber = ({ min, max, ...options }: NumberOptions = {}) =>
  Field(options, integer(min, max), ...rangeRules(min, max), IsInt());

const GREATEST_INT32 = 2_147_483_647;

/** Sets a format, because clients in many languages derive the size of the number from the format. */
export const integer = (minimum?: number, maximum?: number) => ({
  type: 'integer' as const,
  format: maximum !== undefined && maximum <= GREATEST_INT32 ? 'int32' : 'int64',
  minimum,
  maximum,
});

export const Decimal = ({ min, max, ...options }: NumberOptions = {}) =>
  Field(
    options,
    { type: 'number', format: 'double', minimum: min, maximum: max },
    ...rangeRules(min, max),
    IsNumber({ allowNaN: false, allowInfinity: false }),
  );

const rangeRules = (min: number | undefined, max: number | undefined) => [
  max !== undefined && Max(max),
  min !== undefined && Min(min),
];

export const Flag = (options: FieldOptions = {}) =>
  Field(options, { type: 'boolean' }, IsBoolean());

/** Never false, such as `deleted`. No enum, because many generators would not read an enum as a boolean. */
export const AlwaysTrue = () => Flag({ description: 'Always true.', example: true });

export const Instant = (options: FieldOptions = {}) =>
  Field(
    options,
    { type: 'string', format: 'date-time' },
    Rule(
      'isIsoTime',
      isIsoTime,
      (property) =>
        `${property} must be an ISO 8601 date and time with a zone, such as 2026-01-31T09:30:00Z`,
    ),
  );

export const ID_EXAMPLE = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

/** A UUID, in upper or lower case. `name` is the name of this kind of id in the OpenAPI document. */
export const Id = (name: string, options: FieldOptions = {}) =>
  Field(
    options,
    { title: name, type: 'string', format: 'uuid', example: ID_EXAMPLE },
    IsUUID('loose'),
  );

/** JSON object with any content, but not null and not an array. The object stays unchanged. */
export const JsonObject = (options: FieldOptions = {}) =>
  Field(options, { type: 'object', additionalProperties: true }, IsPlainObject());

export const TextMap = (options: FieldOptions = {}) =>
  Field(options, { type: 'object', additionalProperties: { type: 'string' } }, IsPlainObject());

type Class = new () => object;

/** Marks a class for which null in a field means an absent field, also in its schema. */
export const NULL_IS_ABSENT_EXTENSION = 'x-null-is-absent';

/** Java clients of OpenAPI Generator send an empty list for an unset list, unless the document allows null. */
export const NullIsAbsent = (): ClassDecorator => ApiExtension(NULL_IS_ABSENT_EXTENSION, true);

export function readsNullAsAbsent(target: Class): boolean {
  const extensions = Reflect.getMetadata('swagger/apiExtension', target) as object | undefined;
  return extensions !== undefined && NULL_IS_ABSENT_EXTENSION in extensions;
}

/** Maximum length of a list whose items have declared fields. If a list is longer, only its length is reported. */
export const LONGEST_LIST = 1_000;

/** Swagger treats a function with the name `type` as a lazy reference to a class, not as a class. */
const lazily = (shape: () => Class) => ({ type: () => shape() });

export const Nested = (type: () => Class, options: FieldOptions = {}) =>
  Field(options, lazily(type), IsPlainObject(), ValidateNested());

export function NestedList(
  type: () => Class,
  { maxItems, ...options }: ListOptions = {},
): PropertyDecorator {
  if (maxItems && maxItems > LONGEST_LIST) {
    throw new Error(`A list of more than ${LONGEST_LIST} items.`);
  }
  return Field(
    options,
    { ...lazily(type), isArray: true, maxItems },
    ...listRules(maxItems).reverse(),
    IsPlainObject({ each: true }),
    ValidateNested({ each: true }),
  );
}

/** ValidateNested alone accepts an array for an object, and one object for a list. */
const IsPlainObject = (options?: ValidationOptions): PropertyDecorator =>
  Rule(
    'isJsonObject',
    isPlainObject,
    (property, value) => `${property}${options?.each ? firstWrong(value) : ''} must be an object`,
    options,
  );

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstWrong(list: unknown): string {
  const at = Array.isArray(list) ? list.findIndex((item) => !isPlainObject(item)) : -1;
  return at < 0 ? '' : `.${at}`;
}

/** ISO 8601 to the second with a zone, in a year that PostgreSQL supports. */
const MOMENT =
  /^((?!0000)\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

export function isIsoTime(value: unknown): value is string {
  const day = typeof value === 'string' ? MOMENT.exec(value)?.[1] : undefined;
  const date = day === undefined ? null : (new Date(day).toJSON() as string | null);
  // Detects a day that does not exist: JavaScript converts 30 February to 2 March.
  return date?.startsWith(day!) === true;
}

export const Scalar = (options: FieldOptions) =>
  Field(
    options,
    // The type has no name, because OpenAPI Generator warns about a named union of unnamed types.
    { oneOf: [{ type: 'string' }, { type: 'number', format: 'double' }, { type: 'boolean' }] },
    Rule(
      'isScalar',
      (value) => ['string', 'number', 'boolean'].includes(typeof value),
      (property) => `${property} must be a string, a number or a boolean`,
    ),
  );
