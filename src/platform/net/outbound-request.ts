export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** Maximum time until the last byte of the response has arrived. */
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
  readonly withoutBody?: boolean;
  /** The request must be repeatable: it is sent again if the server has closed the reused connection. */
  readonly reusesConnection?: true;
  readonly signal?: AbortSignal;
  /** A target from the settings may be in any private network, but must not be a cloud metadata address. */
  readonly operatorsTarget?: boolean;
  /** Sends the trace header, which reveals related requests. Only for vendors that the site has connected. */
  readonly handsOnTrace?: boolean;
  /** Called when the connection is open, before the first byte is sent. If the function throws, nothing is sent. */
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

export interface Departure {
  readonly signal: AbortSignal;
  /** Must be called when the connection is open, before anything is sent. If it throws, nothing may be sent. */
  leave(): Promise<void>;
}

export interface Gate {
  /** Renews the permission if needed. Throws the errors that `request` throws. */
  send<T>(request: (departure: Departure) => Promise<T>): Promise<T>;
}

/** Returns the wait in ms of a Retry-After header (seconds or a date), or `undefined` if it is missing or invalid. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
