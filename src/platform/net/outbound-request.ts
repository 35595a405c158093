/** A request to somebody else's service. */
export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  /** One that is undefined is not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** For the look-up of the name, TCP and TLS together. */
  readonly connectTimeoutMs?: number;
  /** For everything, until the last byte of the answer. */
  readonly timeoutMs?: number;
  /** When the answer is longer, the request is given up. */
  readonly maxAnswerBytes?: number;
  /** The answer counts with its status line and headers: its body is not waited for, and the connection is closed. */
  readonly withoutBody?: boolean;
  readonly signal?: AbortSignal;
  /**
   * The target is one that the operator's settings name, and no caller chose: it may be in any private network. Cloud
   * metadata is refused all the same.
   */
  readonly operatorsTarget?: boolean;
  /**
   * Tells the target which trace the request is part of, where there are traces. Others learn from it how our requests belong
   * together, so it is for the vendors that a site has connected.
   */
  readonly handsOnTrace?: boolean;
  /**
   * Called with the connection open, immediately before the first byte of the request leaves. When it throws, none does,
   * and its error is the outcome.
   */
  readonly beforeLeaving?: () => Promise<void>;
}

export class OutboundAnswer {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string | string[] | undefined>>,
    readonly body: Buffer,
  ) {}

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  get text(): string {
    return this.body.toString('utf8');
  }

  /** Undefined when the body is no JSON, whatever its content type says. */
  get json(): unknown {
    try {
      return JSON.parse(this.text) as unknown;
    } catch {
      return undefined;
    }
  }
}
