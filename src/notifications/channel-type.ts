import { presentTime } from '../platform/clock.js';
import { OutcomeUnknownError, UnreachableError } from '../platform/net/net.errors.js';
import type { OutboundHttp } from '../platform/net/outbound-http.js';
import {
  type OutboundAnswer,
  type OutboundRequest,
  retryAfterMs,
} from '../platform/net/outbound-request.js';
import type { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import type { TargetType } from '../targets/target-check.js';
import {
  address,
  type Config,
  type ConfigOf,
  type ConfigSchema,
  fields,
} from '../targets/target-config.js';
import type { Failure, Outcome } from './delivery.js';
import type { Message, NotifiedEvent } from './notification.js';

export interface Attempt<SetConfig = Config> {
  readonly config: SetConfig;
  /** Previous value of the field `secret`, while it is valid. */
  readonly formerSecret?: string;
  readonly message: Message;
  readonly signal: AbortSignal;
  readonly http: OutboundHttp;
  readonly smtp: OutboundSmtp;
}

/** People get one message about several similar events. Pagers and programs get a message for each event. */
export type Audience = 'people' | 'pager' | 'programs';

export interface ChannelType<
  Schema extends ConfigSchema = ConfigSchema,
> extends TargetType<Schema> {
  /** Generates the field `secret` if a request has none. It is shown once. The previous secret stays valid for a day. */
  readonly newSecret?: () => string;
  readonly audience: Audience;
  readonly defaultEvents?: readonly NotifiedEvent[];
  /** Makes one attempt. After an abort, the caller ignores the outcome. An exception counts as `failed`. */
  send(attempt: Attempt<ConfigOf<Schema>>): Promise<Outcome>;
}

export function defineChannel<const Schema extends ConfigSchema>(
  type: ChannelType<Schema>,
): ChannelType {
  return type;
}

interface HookType extends Pick<ChannelType, 'name' | 'description'> {
  readonly hook: string;
  readonly bodyOf: (message: Message) => object;
  readonly read: (answer: OutboundAnswer) => Outcome;
}

/** Defines a channel for people. Its only secret is a URL, which the receiver generates. */
export function defineHook({ hook, bodyOf, read, ...type }: HookType): ChannelType {
  const description = `${hook} Everybody who knows the address can post, so the address is a secret.`;
  const url = { format: 'uri-with-query', writeOnly: true } as const;
  return defineChannel({
    ...type,
    audience: 'people',
    config: fields({ webhook_url: address(description, url) }),
    send: ({ config, message, http, signal }) =>
      postJson({ http, signal, url: config.webhook_url, body: bodyOf(message) }, read),
  });
}

const MAX_RESPONSE_BYTES = 65_536;

interface JsonPost extends Pick<Attempt, 'http' | 'signal'> {
  readonly url: string;
  readonly body: string | object;
  readonly headers?: OutboundRequest['headers'];
  readonly withoutBody?: boolean;
}

export async function postJson(
  { http, url, headers, body, ...request }: JsonPost,
  read: (answer: OutboundAnswer) => Outcome = outcomeOf,
): Promise<Outcome> {
  const answer = await http.request({
    ...request,
    method: 'POST',
    url: new URL(url),
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    maxAnswerBytes: MAX_RESPONSE_BYTES,
    reusesConnection: true,
  });
  return read(answer);
}

const REFUSALS = new Set([400, 413, 422]);

/** A status about the URL or the credentials leads to a retry, because an administrator may correct them. */
export function outcomeOf(answer: OutboundAnswer): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  const why = `The receiver answered with status ${status}${isRedirect ? ': redirects are not followed' : ''}.`;
  if (REFUSALS.has(status)) return { kind: 'refused', why };
  const waitMs = retryAfterMs(answer.header('retry-after'), new Date(presentTime()));
  const isBusy = status === 429 && waitMs !== undefined;
  return { kind: 'failed', why, retryAfterMs: waitMs, ...(isBusy && { isBusy }) };
}

/** A forbidden address leads to a retry: an administrator may correct its DNS record or ALLOWED_PRIVATE_TARGETS. */
export function failureOf(error: unknown): Failure | undefined {
  const isOfReceiver = error instanceof UnreachableError || error instanceof OutcomeUnknownError;
  return isOfReceiver ? { kind: 'failed', why: error.message } : undefined;
}
