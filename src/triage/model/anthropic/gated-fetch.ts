import type { Gate, OutboundAnswer } from '../../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * The headers that leave. The library adds more: what it knows of this machine, and what the environment tells it to send
 * (ANTHROPIC_CUSTOM_HEADERS).
 */
const HEADERS = ['accept', 'anthropic-version', 'authorization', 'content-type'];

/** Answers with these have no body, and Response takes none for them. */
const BODYLESS = [204, 205, 304];

/** The `fetch` of the library: each request leaves through the gate, over the one way out of the house. */
export function gatedFetch(
  http: OutboundHttp,
  gate: Gate,
  signal: AbortSignal,
  timeLeftMs: () => number,
): Fetch {
  return async (target, init = {}) => {
    const url = new URL(target instanceof Request ? target.url : target);
    const { method = 'GET', body } = init;
    const given = new Headers(init.headers);
    const headers = Object.fromEntries(HEADERS.map((name) => [name, given.get(name) ?? undefined]));
    const answer = await gate.send(async (departure) => {
      try {
        return await http.request({
          method,
          url,
          headers,
          body: typeof body === 'string' ? body : undefined,
          timeoutMs: timeLeftMs(),
          operatorsTarget: true,
          signal: AbortSignal.any([signal, departure.signal]),
          beforeLeaving: () => departure.leave(),
        });
      } catch (error) {
        // Whoever gave the work up says why.
        if (isOfNetwork(error)) departure.signal.throwIfAborted();
        throw error;
      }
    });
    return responseOf(answer);
  };
}

export function isOfNetwork(error: unknown): error is UnreachableError | OutcomeUnknownError {
  return error instanceof UnreachableError || error instanceof OutcomeUnknownError;
}

function responseOf({ status, headers, body }: OutboundAnswer): Response {
  if (status < 200 || status > 599) {
    throw new OutcomeUnknownError('The answer has a status that HTTP does not know.', 'broken');
  }
  const kept = ['content-type', 'retry-after'].flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const bytes = BODYLESS.includes(status) ? null : new Uint8Array(body);
  return new Response(bytes, { status, headers: kept });
}
