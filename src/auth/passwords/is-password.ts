import { ValidateBy } from 'class-validator';
import {
  hasPermittedLength,
  LONGEST_PASSWORD,
  SHORTEST_PASSWORD,
} from './password-requirements.js';

/** A password that may be set; what may be tried at a login is another matter. */
export const IsPassword = (): PropertyDecorator =>
  ValidateBy({
    name: 'password',
    validator: {
      validate: hasPermittedLength,
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    },
  });
