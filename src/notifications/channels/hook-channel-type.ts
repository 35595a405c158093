import { type Config, type ConfigSchema, fields } from '../../targets/target-config.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import type { Message } from '../notification.js';
import { type Channel, ChannelType, type Outcome } from './channel.port.js';
import { httpsProblems, originOf, postJson } from './http-delivery.js';

interface HookConfig {
  readonly webhook_url: string;
}

/** The configuration of a type whose receiver makes an address for it, and asks for nothing else. */
export function hookSchema(description: string): ConfigSchema {
  return fields(
    {
      webhook_url: {
        type: 'string',
        format: 'uri-with-query',
        minLength: 8,
        maxLength: 2_000,
        writeOnly: true,
        description: `${description} Who knows it can post, so it is a secret.`,
      },
    },
    ['webhook_url'],
  );
}

/** A type that posts each event to such an address, once. */
export abstract class HookChannelType extends ChannelType {
  /** The address is the secret. */
  readonly destinations = [];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override sentTo({ webhook_url }: Config): string[] {
    return originOf(webhook_url);
  }

  override problems(config: Config, path: string): FieldError[] {
    return httpsProblems(addressOf(config), `${path}.webhook_url`);
  }

  connect(config: Config): Channel {
    const url = new URL(addressOf(config));
    return {
      deliver: async (message, signal) => {
        const body = JSON.stringify(this.bodyOf(message));
        return await postJson(this.http, { url, body, signal }, (answer) => this.read(answer));
      },
    };
  }

  protected abstract bodyOf(message: Message): Readonly<Record<string, unknown>>;

  /** What an answer means. */
  protected abstract read(answer: OutboundAnswer): Outcome;
}

function addressOf(config: Config): string {
  return (config as unknown as HookConfig).webhook_url;
}
