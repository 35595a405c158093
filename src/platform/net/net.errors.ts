/** Nothing was sent: no address, connection or permission. A retry cannot cause a second effect. */
export class UnreachableError extends Error {
  /** True if a retry may soon succeed. Never true for a target that is not allowed. */
  readonly temporary: boolean;

  constructor(message: string, { temporary = true, cause }: Extras = {}) {
    super(message, { cause });
    this.name = new.target.name;
    this.temporary = temporary;
  }
}

interface Extras {
  readonly temporary?: boolean;
  readonly cause?: unknown;
}

export class TargetRefusedError extends UnreachableError {
  constructor(message: string) {
    super(message, { temporary: false });
  }
}

/** Error: something was sent, but the outcome is unknown. The request may have had its effect. */
export class OutcomeUnknownError extends Error {
  constructor(
    message: string,
    /** `timeout`: no complete response in time. `broken`: the connection ended, or the response is unusable. */
    readonly reason: 'timeout' | 'broken',
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Describes the failure without the address, because callers see the text. */
export function messageOf(cause: unknown): string {
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.';
}
