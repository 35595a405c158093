import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
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
import { isIsoTime } from './iso-8601.js';
import { AnyJson, LONGEST_LIST, unshielded } from './json-shield.js';

/*
 * One decorator for each kind of field. It validates the field of a request and describes the field in the contract, so
 * that neither can say what the other does not. The fields of answers take the same decorators: nobody validates answers.
 */

/** What the contract says of any field. */
export interface FieldOptions {
  /** The field may be left out. It may not be null. */
  readonly optional?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  /** What the contract says where that is more, or less, than the rules alone tell. */
  readonly contract?: ApiPropertyOptions;
}

/** A field of a kind of its own: what the contract says of the kind, and its rules. Errors come in the order of the rules. */
export function Field(
  { optional = false, contract, ...said }: FieldOptions,
  kind: ApiPropertyOptions,
  ...rules: readonly PropertyDecorator[]
): PropertyDecorator {
  // The contract has `required` for the fields of an object, too: there the field itself has the other word.
  const required = kind.type === 'object' ? { selfRequired: !optional } : { required: !optional };
  const options = { ...kind, ...said, ...contract, ...required } as ApiPropertyOptions;
  return applyDecorators(...rules, ...(optional ? [Optional()] : []), ApiProperty(options));
}

/** Unlike class-validator's IsOptional it does not let null pass. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

export interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** What is said of a text that does not have the pattern. */
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

/** Text that is not made of spaces alone. The pattern begins with `^`, since clients in Python look at the beginning alone. */
export function NotBlank(options: TextOptions & { readonly max: number }): PropertyDecorator {
  const contract = { ...options.contract, minLength: 1 };
  return Text({ ...options, pattern: new RegExp(SAYS_SOMETHING), contract });
}

/** The name that people give to something they set up, of which each name is unique. */
export function GivenName(options: FieldOptions = {}): PropertyDecorator {
  return Text({
    ...options,
    max: 100,
    pattern: /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u,
    message: 'name must be text without control characters, not framed by spaces',
    // Other languages have other words for such a pattern.
    contract: { minLength: 1, pattern: undefined },
    description: 'Unique.',
  });
}

/** Why somebody does something, for those who read the records. */
export function Reason(options: Omit<TextOptions, 'max'> & { readonly max: number }) {
  return NotBlank({ message: 'reason must say something', ...options });
}

interface TextsOptions extends FieldOptions {
  readonly maxItems?: number;
  /** The characters that each text may have. */
  readonly maxLength?: number;
  /** That each text has. */
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

/** One of some words. `name` is what the contract calls the set of them. */
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
 * In answers, words of a set that grows: a client that has been generated before a word was there has to be able to read it.
 * No schema says that in a way that all generators understand, so it is text, and the words are told beside it (ADR 0035).
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

/** The schema of a set that grows. */
export const openSet = (name: string, known: readonly string[]) => ({
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

/** With a format, by which clients in many languages choose the size of their number. */
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

/** In answers: what is never false, such as `deleted`. An enum would say so, too, but many generators make no boolean of it. */
export function AlwaysTrue(): PropertyDecorator {
  return Flag({ description: 'Always true.', example: true });
}

/** A moment: an ISO 8601 date and time with its zone, on a day that exists. */
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

/** The UUID of something of ours, in any case of its letters. `name` is what the contract calls ids of this kind. */
export function Id(name: string, options: FieldOptions = {}): PropertyDecorator {
  const kind = { title: name, type: 'string', format: 'uuid', example: ID_EXAMPLE } as const;
  return Field(options, kind, IsUUID('loose'));
}

/** A JSON object of any content: not null, not an array. It stays as it was sent. */
export function JsonObject(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    options,
    { type: 'object', additionalProperties: true },
    Type(() => AnyJson),
    Transform(({ value }: { value: unknown }) => unshielded(value)),
    IsPlainObject(),
  );
}

/** In answers: an object whose values are texts. */
export function TextMap(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    options,
    { type: 'object', additionalProperties: { type: 'string' } },
    IsPlainObject(),
  );
}

type Class = new () => object;

/** Swagger takes a function for one that gives a class, and not for a class, when it is called `type`. */
const lazily = (shape: () => Class) => ({ type: () => shape() });

/** An object of a known shape. */
export function Nested(type: () => Class, options: FieldOptions = {}): PropertyDecorator {
  return Field(options, lazily(type), IsPlainObject(), ValidateNested(), Type(type));
}

/** A list of objects of a known shape. */
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
    Type(type),
  );
}

/** ValidateNested alone would take an array for an object, and one object for a list of them. */
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

/** `.0`, as the field of an item goes on after that of its list. */
function firstWrong(list: unknown): string {
  const at = Array.isArray(list) ? list.findIndex((item) => !isPlainObject(item)) : -1;
  return at < 0 ? '' : `.${at}`;
}
