import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const AUTH_CONTRACT: ModuleContract = {
  tags: { Access: 'API keys, users, sessions and the identity of the caller.' },
  ids: {
    'api-keys': { what: 'API key', schema: 'ApiKeyId' },
    sessions: { what: 'session', schema: 'SessionId' },
    users: { what: 'user', schema: 'UserId' },
  },
  schemas: {
    ApiKey: 'An API key without its secret.',
    ApiKeyLimits: 'Maximum requests per minute of a key, by class.',
    CreatedApiKey: 'A new key with its secret, which is shown only once.',
    Credentials: 'User name and password of a login.',
    EndedSession: 'The session has ended.',
    KeysOfDeletedUser: 'revoke: the keys of the user are revoked. keep: they stay valid.',
    ApiKeyInput: 'A key to create.',
    UserInput: 'A user to create.',
    PasswordChange: 'A new password of the caller.',
    PasswordForm: 'A new password of the caller, sent by a form.',
    Principal: 'A person or a program, with its permissions.',
    PrincipalKind: 'user: a person with a session. key: a program with an API key.',
    Role: 'Permissions of a principal. Each role includes the roles before it: viewer, analyst, senior, manager, admin.',
    LoginSession: 'A session of the caller.',
    StartedSession: 'The session that the login started.',
    User: 'A person who can log in.',
    UserUpdate: 'Changes to a user; at least one field is required.',
  },
  fields: {
    approval_level: 'Highest approval level that the principal may give.',
    current_password: 'The current password.',
    last_login_at: 'Time of the last login; absent before the first.',
    password: 'The password of the user.',
    role: 'Permissions of the principal.',
    username: 'Name with which the person logs in.',
  },
};
