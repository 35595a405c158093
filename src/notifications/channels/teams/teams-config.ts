import type { ConfigSchema } from '../../../connectors/config/config-schema.js';

export interface TeamsChannelConfig {
  readonly webhook_url: string;
}

export const TEAMS_CHANNEL_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    webhook_url: {
      type: 'string',
      format: 'uri-with-query',
      minLength: 8,
      maxLength: 2_000,
      writeOnly: true,
      description:
        'The address of a workflow that starts when a Teams webhook request is received. Who knows it can post, so it is a secret.',
    },
  },
  required: ['webhook_url'],
  additionalProperties: false,
};
