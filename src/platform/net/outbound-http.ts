import { Injectable } from '@nestjs/common';
import { type Span, traced, type Work } from '../tracing/tracing.js';
import { type PreparedRequest, sendRequest } from './send-request.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';
import type { OutboundAnswer, OutboundRequest } from './outbound-request.js';
import { Targets } from './targets.js';

/** Timeout for name look-up, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Sends all outgoing HTTP requests. It follows no redirect, uses no proxy from the environment, always verifies
 * certificates, opens one connection per request unless the request allows to reuse one, and distinguishes UnreachableError (nothing was sent) from
 * OutcomeUnknownError (something was sent, without a complete response).
 */
@Injectable()
export class OutboundHttp {
  constructor(private readonly targets: Targets) {}

  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    return await traced(
      () => workOf(request),
      async (span) => {
        const answer = await this.send(request, span);
        span?.note({ 'http.response.status_code': answer.status });
        return answer;
      },
    );
  }

  private async send(request: OutboundRequest, span: Span | undefined): Promise<OutboundAnswer> {
    const { timeoutMs = TIMEOUT_MS } = request;
    refuseOtherUrls(request.url);
    const deadline = performance.now() + timeoutMs;
    const connectBy = performance.now() + Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
    const addresses = await resolvedBy(connectBy, this.pin(request), request);
    const prepared: PreparedRequest = {
      ...request,
      addresses,
      connectBy,
      deadline,
      maxAnswerBytes: request.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      traceparent: request.handsOnTrace ? span?.traceparent : undefined,
    };
    return await sendRequest(prepared);
  }

  private pin({ url, operatorsTarget = false }: OutboundRequest): ReturnType<Targets['pin']> {
    return operatorsTarget
      ? this.targets.pinOperators(url.hostname)
      : this.targets.pin(url.hostname);
  }
}

/** Without path and query: for some receivers the path is the secret. */
function workOf({ method, url }: OutboundRequest): Work {
  const { hostname, port, protocol } = url;
  return {
    name: `${method} ${hostname}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    },
  };
}

function refuseOtherUrls(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('The URL must be http or https.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('The URL must not have a user name or password.');
  }
}

/** Returns the addresses if they resolve in time. A look-up cannot be cancelled, so a slow one continues unobserved. */
async function resolvedBy<T>(
  time: number,
  resolution: Promise<T>,
  { url, signal }: OutboundRequest,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    const late = () =>
      reject(new UnreachableError(`The name ${url.hostname} resolves too slowly.`));
    timer = setTimeout(late, Math.max(0, time - performance.now()));
    abort = () => reject(new UnreachableError('The request was aborted before it was sent.'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([resolution, givenUp]);
  } finally {
    clearTimeout(timer);
    if (abort) signal?.removeEventListener('abort', abort);
  }
}
