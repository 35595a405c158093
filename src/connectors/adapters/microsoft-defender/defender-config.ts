import type { ConfigSchema } from '../../config/config-schema.js';
import { MICROSOFT_LOGIN_FIELDS, type MicrosoftLogin } from '../microsoft-login.js';

export interface DefenderConfig extends MicrosoftLogin {
  readonly base_url: string;
}

export const DEFENDER_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      default: 'https://api.security.microsoft.com',
      description: 'The service, or its server in your region.',
    },
    ...MICROSOFT_LOGIN_FIELDS,
  },
  required: ['tenant_id', 'client_id', 'client_secret'],
  additionalProperties: false,
};
