import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { AccessTokens } from './access-tokens.js';
import { vendorUrl } from './vendor-api.js';
import { VendorCalls } from './vendor-calls.js';
import { SHORTEST_SECRET, type StringSchema } from '../../targets/target-config.js';

/** Credentials of an application for any Microsoft service. */
export interface MicrosoftLogin {
  readonly login_url: string;
  readonly tenant_id: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export const MICROSOFT_LOGIN_FIELDS = {
  login_url: {
    type: 'string',
    format: 'uri',
    maxLength: 2_000,
    default: 'https://login.microsoftonline.com',
    description: 'Address of the login service. National clouds have their own.',
  },
  tenant_id: {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$',
    maxLength: 253,
    description: 'Id or domain of the directory.',
  },
  client_id: {
    type: 'string',
    pattern: '^[A-Za-z0-9-]{1,100}$',
    maxLength: 100,
    description: 'Id of the registered application.',
  },
  client_secret: {
    type: 'string',
    minLength: SHORTEST_SECRET,
    maxLength: 1_000,
    writeOnly: true,
    description: 'Client secret of the application.',
  },
} as const satisfies Record<string, StringSchema>;

/**
 * Tokens by client credentials, with all permissions that an administrator granted to the application.
 * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 *
 * @param resource the service, such as `https://graph.microsoft.com`
 */
export function microsoftTokens(
  http: OutboundHttp,
  { login_url, tenant_id, client_id, client_secret }: MicrosoftLogin,
  resource: string,
): AccessTokens {
  return new AccessTokens(new VendorCalls(http), {
    url: vendorUrl(login_url, [tenant_id, 'oauth2', 'v2.0', 'token']),
    form: {
      client_id,
      client_secret,
      scope: `${resource}/.default`,
      grant_type: 'client_credentials',
    },
    secrets: [client_secret],
  });
}
