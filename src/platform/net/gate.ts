/** The way out for one gated request. */
export interface Departure {
  /** Aborted when the answer can no longer count. */
  readonly signal: AbortSignal;
  /**
   * Asked with the connection open and nothing sent yet: the bytes go out right after it, or, when it throws, never.
   * An HTTP client takes it as `beforeLeaving`.
   */
  leave(): Promise<void>;
}

/** The door through which every request with an effect, or a look-up, leaves: each attempt of each of them anew. */
export interface Gate {
  /** Asks for permission again where needed. What `request` throws, it throws. */
  send<T>(request: (departure: Departure) => Promise<T>): Promise<T>;
}
