import { SHORTEST_SECRET, type ConfigSchema } from '../../config/config-schema.js';

export interface FalconConfig {
  readonly base_url: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export const FALCON_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      default: 'https://api.crowdstrike.com',
      description:
        'The address of the cloud in which the hosts are, such as https://api.eu-1.crowdstrike.com.',
    },
    client_id: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        'Of an API client with the scopes Hosts (read, write) and On-demand scans (read, write).',
    },
    client_secret: {
      type: 'string',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'The secret that belongs to `client_id`.',
    },
  },
  required: ['client_id', 'client_secret'],
  additionalProperties: false,
};
