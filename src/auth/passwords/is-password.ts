import { ValidateBy } from 'class-validator';
import { isGoodPassword, LONGEST_PASSWORD, SHORTEST_PASSWORD } from './password-rules.js';

/** A password that may be set; what may be tried at a login is another matter. */
export const IsPassword = (): PropertyDecorator =>
  ValidateBy({
    name: 'password',
    validator: {
      validate: isGoodPassword,
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    },
  });
