import type { ConfigSchema } from '../../../connectors/config/config-schema.js';

export interface WebhookConfig {
  readonly url: string;
  readonly secret: string;
}

export const WEBHOOK_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
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
  required: ['url', 'secret'],
  additionalProperties: false,
};

/** The service makes it when it is missing. */
export const ROTATED_SECRET = 'secret';
