import { applyDecorators } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { FreeObject, LONGEST_LIST, released } from './free-objects.js';
import { isIso8601 } from './iso-8601.js';

/** The field may be left out. Unlike class-validator's IsOptional it may not be null. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

const isPlainObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const PlainObject = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isJsonObject',
      validator: {
        validate: isPlainObject,
        defaultMessage: ({ property } = {} as never) =>
          options?.each ? `${property} must hold objects` : `${property} must be an object`,
      },
    },
    options,
  );

/** A plain JSON object of any content: not null, not an array. It stays as it was sent. */
export const IsJsonObject = (options?: ValidationOptions): PropertyDecorator =>
  applyDecorators(
    Type(() => FreeObject),
    Transform(({ value }: { value: unknown }) => released(value)),
    PlainObject(options),
  );

/** An object of a known shape. Without the check of its own, ValidateNested would take an array for one. */
export const NestedObject = (type: () => new () => object): PropertyDecorator =>
  applyDecorators(PlainObject(), ValidateNested(), Type(type));

/** A list of objects of a known shape. Without the checks of its own, ValidateNested would take one object for it. */
export const NestedList = (type: () => new () => object, maxItems: number): PropertyDecorator => {
  if (maxItems > LONGEST_LIST) throw new Error(`A list of more than ${LONGEST_LIST} items.`);
  return applyDecorators(
    IsArray(),
    ArrayMaxSize(maxItems),
    PlainObject({ each: true }),
    ValidateNested({ each: true }),
    Type(type),
  );
};

/** `true` or `false` in a query string, and nothing that resembles them. */
export const QueryBoolean = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      value === 'true' ? true : value === 'false' ? false : value,
    ),
    ValidateBy({
      name: 'isBoolean',
      validator: {
        validate: (value) => typeof value === 'boolean',
        defaultMessage: ({ property } = {} as never) => `${property} must be true or false`,
      },
    }),
  );

/** A whole number in a query string: digits alone, so that `1e3`, `0x10` and ` 1` are refused. */
export const QueryInteger = (min: number, max: number): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    ValidateBy({
      name: 'integerRange',
      validator: {
        validate: (value) => Number.isInteger(value) && value >= min && value <= max,
        defaultMessage: ({ property } = {} as never) =>
          `${property} must be a whole number from ${min} to ${max}`,
      },
    }),
  );

/** Of the forms of ISO 8601 the one that names a moment: to the second, with a zone, in a year that PostgreSQL has. */
const MOMENT = /^(?!0000)[\d-]{10}T\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/;

/** An ISO 8601 date and time with its zone, on a day that exists. */
export function isIsoTime(value: unknown): value is string {
  return typeof value === 'string' && MOMENT.test(value) && isIso8601(value);
}

export const IsIsoTime = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isIsoTime',
      validator: {
        validate: isIsoTime,
        defaultMessage: ({ property } = {} as never) =>
          `${property} must be an ISO 8601 date and time with a zone, such as 2026-01-31T09:30:00Z`,
      },
    },
    options,
  );
