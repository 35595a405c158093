import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { type Config, fields } from '../../../targets/target-config.js';
import { Injectable } from '@nestjs/common';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { type Message, NOTIFIED_EVENTS } from '../../notification.js';
import { type Channel, ChannelType, type ConnectOptions, type Outcome } from '../channel.port.js';
import { httpsProblems, originOf, postJson } from '../http-delivery.js';
import { presentTime } from '../../../platform/clock.js';

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 32;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

export function newSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/** Why a secret cannot be used, as the end of a sentence; undefined when it can. */
export function secretProblem(secret: string): string | undefined {
  const encoded = secret.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isExact = secret.startsWith(PREFIX) && bytes.toString('base64') === encoded;
  const isOfGoodSize = bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES;
  if (isExact && isOfGoodSize) return undefined;
  return `must be ${PREFIX} and the base64 of ${LEAST_BYTES} to ${MOST_BYTES} random bytes`;
}

/**
 * The headers that let a receiver know who sent the body and when. With several secrets there is a signature by each, and one
 * of them is enough for the receiver.
 */
export function signatureHeaders(
  body: string,
  {
    id,
    at,
    secrets,
  }: { readonly id: string; readonly at: Date; readonly secrets: readonly string[] },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    // Node takes three times as long with a Buffer as key.
    const key = createSecretKey(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

interface WebhookConfig {
  readonly url: string;
  readonly secret: string;
}

export const WEBHOOK_SCHEMA = fields(
  {
    url: {
      type: 'string',
      format: 'uri-with-query',
      minLength: 8,
      maxLength: 2_000,
      description:
        'Where events are posted to. Admins see all of it: nothing secret belongs into its query.',
    },
    secret: {
      type: 'string',
      maxLength: 200,
      writeOnly: true,
      description:
        'whsec_ and the base64 of 24 to 64 random bytes. When there is none, the service makes one and shows it once.',
    },
  },
  ['url', 'secret'],
);

/** The service makes it when it is missing. */
export const ROTATED_SECRET = 'secret';

/** Posts each event as it is, signed as Standard Webhooks says. */
class WebhookChannel implements Channel {
  constructor(
    private readonly url: URL,
    private readonly secrets: readonly string[],
    private readonly http: OutboundHttp,
  ) {}

  async deliver({ eventId, payload }: Message, signal: AbortSignal): Promise<Outcome> {
    const body = JSON.stringify(payload);
    const signature = { id: eventId, at: new Date(presentTime()), secrets: this.secrets };
    const headers = signatureHeaders(body, signature);
    const request = { url: this.url, headers, body, signal, withoutBody: true };
    return await postJson(this.http, request);
  }
}

@Injectable()
export class WebhookChannelType extends ChannelType {
  readonly name = 'webhook';
  readonly description =
    'Any service that takes webhooks: each event as JSON, signed as Standard Webhooks says.';
  /** The secret signs and is never sent, so a new address does not need it again. */
  readonly destinations = [];
  override readonly rotates = ROTATED_SECRET;
  override readonly isForPeople = false;
  override readonly defaultEvents = NOTIFIED_EVENTS;

  readonly config = WEBHOOK_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override newSecret(): string {
    return newSecret();
  }

  override sentTo({ url }: Config): string[] {
    return originOf(url);
  }

  override problems(config: Config, path: string): FieldError[] {
    const { url, secret } = config as unknown as WebhookConfig;
    const problem = secretProblem(secret);
    const field = `${path}.secret`;
    return [
      ...httpsProblems(url, `${path}.url`),
      ...(problem ? [{ field, code: 'matches', message: `${field} ${problem}.` }] : []),
    ];
  }

  connect(config: Config, { formerSecret }: ConnectOptions): Channel {
    const { url, secret } = config as unknown as WebhookConfig;
    const secrets = formerSecret === undefined ? [secret] : [secret, formerSecret];
    return new WebhookChannel(new URL(url), secrets, this.http);
  }
}
