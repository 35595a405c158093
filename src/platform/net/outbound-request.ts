export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** Timeout until the last byte of the response. */
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
  /** Discards the body of the response. */
  readonly withoutBody?: boolean;
  /** Reuses a connection. The request must be repeatable: it is sent again if the server has closed the connection. */
  readonly reusesConnection?: true;
  readonly signal?: AbortSignal;
  /** True if the operator configured the target, which may be in any private network, except cloud metadata. */
  readonly operatorsTarget?: boolean;
  /** Sends the trace, which reveals related requests. Only for vendors that the site has connected. */
  readonly handsOnTrace?: boolean;
  /** Called on the open connection before the first byte. If it throws, nothing is sent. */
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

  /** Parsed body, or `undefined` if the body is not JSON. Ignores the content type. */
  get json(): unknown {
    try {
      return JSON.parse(this.text) as unknown;
    } catch {
      return undefined;
    }
  }
}

/** The permission for one gated request. */
export interface Departure {
  /** Aborted when the response no longer counts. */
  readonly signal: AbortSignal;
  /** Called on the open connection before anything is sent; if it throws, nothing is sent. */
  leave(): Promise<void>;
}

/** Permits each attempt of a request that has an effect or looks up data. */
export interface Gate {
  /** Renews the permission if needed. Throws what `request` throws. */
  send<T>(request: (departure: Departure) => Promise<T>): Promise<T>;
}

/** Returns the wait in ms of a Retry-After header (seconds or a date), or `undefined` if it is missing or invalid. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
