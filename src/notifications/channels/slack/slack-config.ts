import type { ConfigSchema } from '../../../connectors/config/config-schema.js';

export interface SlackChannelConfig {
  readonly webhook_url: string;
}

export const SLACK_CHANNEL_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    webhook_url: {
      type: 'string',
      format: 'uri-with-query',
      minLength: 8,
      maxLength: 2_000,
      writeOnly: true,
      description:
        'The address of an incoming webhook, such as https://hooks.slack.com/services/…. Who knows it can post, so it is a secret.',
    },
  },
  required: ['webhook_url'],
  additionalProperties: false,
};
