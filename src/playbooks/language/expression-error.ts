/** An expression cannot be read, or has no value. The message is a whole sentence. */
export class ExpressionError extends Error {
  constructor(
    /** Where in the expression, counted in UTF-16 units from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }

  /** The same, in a longer text in which the expression begins at `start`. */
  within(start: number): ExpressionError {
    return new ExpressionError(this.offset + start, this.message);
  }
}
