export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For name, TCP and TLS together. */
  readonly connectTimeoutMs?: number;
  /** For all of it, to the last byte of the answer. */
  readonly timeoutMs?: number;
  /** A longer answer is given up. */
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal;
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

  /** Undefined when it is no JSON, whatever it says it is. */
  get json(): unknown {
    try {
      return JSON.parse(this.text) as unknown;
    } catch {
      return undefined;
    }
  }
}
