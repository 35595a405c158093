import type { ConfigSchema } from '../../config/config-schema.js';
import { MICROSOFT_LOGIN_FIELDS, type MicrosoftLogin } from '../microsoft-login.js';

export interface GraphConfig extends MicrosoftLogin {
  readonly base_url: string;
  readonly mailbox?: string;
}

export const GRAPH_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      default: 'https://graph.microsoft.com',
      description: 'The service. National clouds have their own.',
    },
    ...MICROSOFT_LOGIN_FIELDS,
    mailbox: {
      type: 'string',
      minLength: 1,
      maxLength: 320,
      description: 'The mailbox of actions on mail that name no recipient.',
    },
  },
  required: ['tenant_id', 'client_id', 'client_secret'],
  additionalProperties: false,
};
