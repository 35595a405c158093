import { Injectable } from '@nestjs/common';
import { AnswerMemory } from './answer-memory.js';
import { type PreparedRequest, sendRequest } from './send-request.js';
import { TargetRefusedError, UnreachableError } from './net.errors.js';
import type { OutboundAnswer, OutboundRequest } from './outbound-request.js';
import { Targets } from './targets.js';

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 1_048_576;
const ALL_ANSWERS_BYTES = 32 * MAX_ANSWER_BYTES;

/**
 * The one way out to other people's machines. It follows no redirect, takes no proxy from the environment, always
 * verifies certificates, opens a connection of its own for each request, and knows whether anything was sent:
 * UnreachableError when nothing was, OutcomeUnknownError when something was and no whole answer came.
 */
@Injectable()
export class OutboundHttp {
  private readonly answerMemory = new AnswerMemory(ALL_ANSWERS_BYTES);

  constructor(private readonly targets: Targets) {}

  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    const { timeoutMs = TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = request;
    refuseOtherUrls(request.url);
    const deadline = performance.now() + timeoutMs;
    const connectBy = performance.now() + Math.min(connectTimeoutMs, timeoutMs);
    const addresses = await resolvedBy(connectBy, this.pin(request), request);
    const prepared: PreparedRequest = {
      ...request,
      addresses,
      connectBy,
      deadline,
      maxAnswerBytes: request.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      answerMemory: this.answerMemory,
    };
    return await sendRequest(prepared);
  }

  private pin({ url, operatorsTarget = false }: OutboundRequest): ReturnType<Targets['pin']> {
    return operatorsTarget
      ? this.targets.pinOperators(url.hostname)
      : this.targets.pin(url.hostname);
  }
}

function refuseOtherUrls(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('Only http and https addresses can be reached.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('An address must not carry a user name or password.');
  }
}

/** The addresses, when they are resolved by then. A look-up cannot be stopped, so a slow one is left to itself. */
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
    abort = () => reject(new UnreachableError('The request was given up before it left.'));
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
