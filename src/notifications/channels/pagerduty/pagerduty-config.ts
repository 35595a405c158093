import type { ConfigSchema } from '../../../connectors/config/config-schema.js';

export interface PagerDutyChannelConfig {
  readonly routing_key: string;
  readonly base_url?: string;
}

export const PAGERDUTY_BASE_URL = 'https://events.pagerduty.com';

export const PAGERDUTY_CHANNEL_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    routing_key: {
      type: 'string',
      pattern: '^[A-Za-z0-9]{32}$',
      maxLength: 32,
      writeOnly: true,
      description: 'The integration key of an Events API v2 integration: 32 letters and digits.',
    },
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      default: PAGERDUTY_BASE_URL,
      description: 'In the EU https://events.eu.pagerduty.com.',
    },
  },
  required: ['routing_key'],
  additionalProperties: false,
};
