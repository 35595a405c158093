/** The embedded server cannot be had; the message is one line, fit to be printed to an operator. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
  }

  static from(error: unknown): EmbeddedPostgresError {
    if (error instanceof EmbeddedPostgresError) return error;
    const reason = (error as { message?: string } | undefined)?.message ?? String(error);
    return new EmbeddedPostgresError(`The embedded PostgreSQL could not be started: ${reason}`, {
      cause: error,
    });
  }
}
