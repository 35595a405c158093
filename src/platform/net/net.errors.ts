/** Nothing was sent: no address, no connection, or not allowed to go there. Trying again cannot do anything twice. */
export class UnreachableError extends Error {
  constructor(
    message: string,
    readonly extras: {
      /** Trying again soon may help; it does not where the target itself is refused. */
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

/** Something was sent, and no answer tells what became of it: it may have had its effect. */
export class OutcomeUnknownError extends Error {
  constructor(
    message: string,
    /** `timeout`: no whole answer in time. `broken`: the connection ended first, or the answer says nothing. */
    readonly reason: 'timeout' | 'broken',
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}
