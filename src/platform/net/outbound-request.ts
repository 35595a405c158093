export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** Timeout until the last byte of the response. */
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
  /** Only status and headers matter: the body is dropped. */
  readonly withoutBody?: boolean;
  /** The request must be repeatable: it is sent again if the kept connection was closed meanwhile. */
  readonly reusesConnection?: true;
  readonly signal?: AbortSignal;
  /** The target is in the settings of the operator and may be in any private network, except cloud metadata. */
  readonly operatorsTarget?: boolean;
  /** Sends the trace, which reveals how requests belong together: only for vendors that the site has connected. */
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

  /** `undefined` if the body is not JSON, whatever its content type. */
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

/** Passes every request that has an effect or looks something up, each attempt separately. */
export interface Gate {
  /** Renews the permission if needed. Throws what `request` throws. */
  send<T>(request: (departure: Departure) => Promise<T>): Promise<T>;
}

/** Milliseconds to wait according to a Retry-After header (seconds or a date); `undefined` if it has neither. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
