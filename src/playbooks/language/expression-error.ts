import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';

/** An expression may name anything, of any length. */
const LONGEST_MESSAGE = 300;

/** An expression cannot be read, or has no value. The message is a whole sentence that can be shown. */
export class ExpressionError extends Error {
  constructor(
    /** Where in the expression, counted in UTF-16 units from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(shownStart(message, LONGEST_MESSAGE));
    this.name = new.target.name;
  }

  /** The same, in a longer text in which the expression begins at `start`. */
  within(start: number): ExpressionError {
    return new ExpressionError(this.offset + start, this.message);
  }

  /** As people read it who wrote the field: they count characters from 1. */
  inField(field: string): FieldError {
    const message = `${field} at character ${this.offset + 1}: ${this.message}`;
    return { field, code: 'expression', message };
  }
}
