import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Outcome } from './channel.port.js';
import { isPrivateHost } from '../../platform/addresses/target-rules.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import {
  type OutboundAnswer,
  type OutboundRequest,
  retryAfterMs,
} from '../../platform/net/outbound-request.js';
import { presentTime } from '../../platform/clock.js';

/**
 * What it means that a receiver did not answer. An address that must not be called is no exception: a name may lead elsewhere in
 * a minute, and somebody may mend ALLOWED_PRIVATE_TARGETS. Other errors are not known, and thrown again.
 */
export function failureOf(error: unknown): Outcome {
  if (error instanceof UnreachableError || error instanceof OutcomeUnknownError) {
    return { kind: 'failed', why: error.message };
  }
  throw error;
}

/** Little of an answer is read but its status and when to come again. */
const LARGEST_ANSWER_BYTES = 65_536;

interface JsonPost {
  readonly url: URL;
  readonly body: string;
  readonly headers?: OutboundRequest['headers'];
  readonly signal: AbortSignal;
  /** The status says it all: a long or endless answer is none that failed. */
  readonly withoutBody?: boolean;
}

/** Posts JSON once, and reads what the answer means, or that there is none. */
export async function postJson(
  http: OutboundHttp,
  request: JsonPost,
  read: (answer: OutboundAnswer) => Outcome = outcomeOf,
): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', ...request.headers };
  try {
    const limits = { maxAnswerBytes: LARGEST_ANSWER_BYTES };
    return read(await http.request({ method: 'POST', ...request, headers, ...limits }));
  } catch (error) {
    return failureOf(error);
  }
}

/** By these a receiver says that it understood, and will never take this message. */
const REFUSALS = new Set([400, 413, 422]);

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * What an answer means, for receivers that say it by the status. No redirect is followed: it could lead into a private
 * network. What is wrong with the address or the credentials somebody may mend, so it is tried again.
 */
export function outcomeOf(answer: OutboundAnswer): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const why = isRedirect(status)
    ? `It answered with status ${status}: redirects are not followed.`
    : `It answered with status ${status}.`;
  if (REFUSALS.has(status)) return { kind: 'refused', why };
  const waitMs = retryAfterMs(answer.header('retry-after'), new Date(presentTime()));
  const isBusy = status === 429 && waitMs !== undefined;
  return { kind: 'failed', why, retryAfterMs: waitMs, ...(isBusy ? { isBusy } : {}) };
}

/** For the audit trail; of an address that is lost with the key of the secrets there is nothing to tell. */
export function originOf(address: unknown): string[] {
  return typeof address === 'string' && URL.canParse(address) ? [new URL(address).origin] : [];
}

/** Messages tell of incidents: through the internet they go encrypted. */
export function httpsProblems(address: string, field: string): FieldError[] {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' || isPrivateHost(hostname)) return [];
  const message = `${field} must be an https address; http is for addresses and names of private networks.`;
  return [{ field, code: 'https_required', message }];
}
