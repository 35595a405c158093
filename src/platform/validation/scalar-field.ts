import { ValidateBy } from 'class-validator';
import { Field, type FieldOptions } from './fields.js';

const TYPES = ['string', 'number', 'boolean'];

/** A JSON value that is no object, no list and not null. */
export const Scalar = (options: FieldOptions) =>
  Field(
    options,
    // Without a name: OpenAPI Generator warns of a named union of types that have none.
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
