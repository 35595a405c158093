import { Injectable } from '@nestjs/common';
import type { Config } from '../../../connectors/config/config-schema.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { type Message, NOTIFIED_EVENTS } from '../../notification.js';
import { type Channel, ChannelType, type ConnectOptions, type Outcome } from '../channel.port.js';
import { httpsProblems, originOf, postJson } from '../http-delivery.js';
import { ROTATED_SECRET, WEBHOOK_SCHEMA, type WebhookConfig } from './webhook-config.js';
import { newSecret, secretProblem, signatureHeaders } from './standard-signature.js';
import { presentTime } from '../../../platform/clock.js';

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

  readonly schema = WEBHOOK_SCHEMA;

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
