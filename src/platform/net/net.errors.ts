/** Nothing was sent: no address, no connection or no permission. A retry cannot cause a second effect. */
export class UnreachableError extends Error {
  /** True if a retry may help soon. Never true if the target is not allowed. */
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

/** Something was sent, but the outcome is unknown: the request may have had its effect. */
export class OutcomeUnknownError extends Error {
  constructor(
    message: string,
    /** `timeout`: no complete response in time. `broken`: the connection ended first, or the response is unusable. */
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
