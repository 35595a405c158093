/** Nothing was sent: there was no address, no connection, or no permission to go there. So trying again has no effect twice. */
export class UnreachableError extends Error {
  constructor(
    message: string,
    readonly extras: {
      /** Whether trying again soon may help. It does not when the target itself is refused. */
      readonly temporary?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: extras.cause });
    this.name = new.target.name;
  }

  get temporary(): boolean {
    return this.extras.temporary ?? true;
  }
}

/** The address is one that the service must not talk to. */
export class TargetRefusedError extends UnreachableError {
  constructor(message: string) {
    super(message, { temporary: false });
  }
}

/** Something was sent, and no answer tells what came of it: the request may have had its effect. */
export class OutcomeUnknownError extends Error {
  constructor(
    message: string,
    /** `timeout`: no whole answer came in time. `broken`: the connection ended first, or the answer tells nothing. */
    readonly reason: 'timeout' | 'broken',
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}
