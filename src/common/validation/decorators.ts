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

const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

/** An ISO 8601 date and time with its zone, on a day that exists. */
export function isIsoTime(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const match = ISO_TIME.exec(value);
  if (!match) return false;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
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
