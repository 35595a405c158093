import { address, secret } from '../../targets/target-config.js';
import { AccessTokens } from './access-tokens.js';
import { vendorUrl } from './vendor-api.js';
import { VendorCalls, type VendorHttp } from './vendor-calls.js';

/** Credentials of an application for any Microsoft service. */
interface MicrosoftLogin {
  readonly login_url: string;
  readonly tenant_id: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export const MICROSOFT_LOGIN_FIELDS = {
  login_url: address('Address of the login service. National clouds have their own.', {
    default: 'https://login.microsoftonline.com',
  }),
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
  client_secret: secret('Client secret of the application.', {}),
} as const;

/**
 * Tokens by client credentials, with all permissions that an administrator granted to the application.
 * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 *
 * @param resource the service, such as `https://graph.microsoft.com`
 */
export function microsoftTokens(
  http: VendorHttp,
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
