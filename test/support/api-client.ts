import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { ContractCheck, type ObservedAnswer } from './contract-check.js';
import { readContract } from './contract-check-document.js';
import { recordViolations, throwViolations } from './contract-check-violations.js';

export interface RequestOptions {
  /** An object or array is sent as JSON. A string or bytes are sent unchanged, with the given headers. */
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON, or the text of another media type. */
  readonly body: ReturnType<typeof JSON.parse>;
  readonly text: string;
}

/** Sends requests over HTTP. Every response is compared with the contract. */
export class ApiClient {
  private readonly agent = new Agent({ keepAlive: true });

  private constructor(
    readonly url: string,
    private readonly judge: (answer: ObservedAnswer) => void,
    private readonly headers: OutgoingHttpHeaders = {},
  ) {}

  /** Returns a client for a service in another process. The client compares each response with the contract. */
  static for(url: string, undocumented?: RegExp): ApiClient {
    const check = new ContractCheck(readContract(), undocumented);
    return new ApiClient(url, (answer) => {
      recordViolations(check, answer);
      throwViolations();
    });
  }

  /** Returns a client for a service whose server compares its own responses with the contract (see startTestApp). */
  static ofCheckedServer(url: string): ApiClient {
    return new ApiClient(url, throwViolations);
  }

  /** Returns a client that sends these headers with every request, such as the key of a principal. */
  with(headers: OutgoingHttpHeaders): ApiClient {
    return new ApiClient(this.url, this.judge, { ...this.headers, ...headers });
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.send(method, path, options);
    const cookies = answer.headers['set-cookie'];
    // Node returns a list for a header that is one line on the wire.
    const headers = { ...answer.headers, ...(cookies && { 'set-cookie': cookies.join() }) };
    this.judge({ method, url: path, ...answer, headers, body: answer.text });
    return answer;
  }

  get(path: string, headers?: OutgoingHttpHeaders): Promise<Answer> {
    return this.request('GET', path, { headers });
  }

  post(path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Answer> {
    return this.request('POST', path, { body, headers });
  }

  put(path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Answer> {
    return this.request('PUT', path, { body, headers });
  }

  delete(path: string, headers?: OutgoingHttpHeaders): Promise<Answer> {
    return this.request('DELETE', path, { headers });
  }

  close(): void {
    this.agent.destroy();
  }

  private send(method: string, path: string, options: RequestOptions): Promise<Answer> {
    const { bytes, type } = serialised(options.body);
    const headers = {
      ...(type && { 'content-type': type }),
      ...(bytes && { 'content-length': bytes.length }),
      ...this.headers,
      ...options.headers,
    };
    const { signal } = options;
    return new Promise((resolve, reject) => {
      const outgoing = request(this.url, {
        method,
        path,
        headers: definedOnly(headers),
        agent: this.agent,
        ...(signal && { signal }),
      });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, text, body: parsed(text, headers) });
        });
      });
      outgoing.end(bytes);
    });
  }
}

/** Status, and each wrong field with its code, such as `name: required`. */
export const problemsOf = ({ status, body }: Answer): (number | string)[] => [
  status,
  ...(body.error?.details?.errors ?? []).map(
    ({ field, code }: Record<string, string>) => `${field}: ${code}`,
  ),
];

function serialised(body: unknown): { bytes?: Buffer; type?: string } {
  if (body === undefined) return {};
  if (typeof body === 'string') return { bytes: Buffer.from(body) };
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body) };
  return { bytes: Buffer.from(JSON.stringify(body)), type: 'application/json' };
}

/** A header with the value undefined is omitted. */
function definedOnly(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}

function parsed(text: string, headers: IncomingHttpHeaders): ReturnType<typeof JSON.parse> {
  const json = (headers['content-type'] ?? '').startsWith('application/json');
  return json && text !== '' ? JSON.parse(text) : text;
}
