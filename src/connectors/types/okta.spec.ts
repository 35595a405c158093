import { OktaServer } from '../../../test/support/vendors/okta-server.js';
import type { Trouble } from '../../../test/support/vendors/vendor-server.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { ActionCall } from '../connector-type.js';
import { okta } from './okta.js';

const LOGIN = 'ada@example.com';
const READ = 'GET /api/v1/users/ada%40example.com';

describe('a connector to Okta', () => {
  const server = new OktaServer();
  const site = useVendor(okta, server);
  const { gate, http } = site;
  const execute = (type: ActionTypeName, user = LOGIN, more: Partial<ActionCall> = {}) =>
    site.execute(callOf(type, { user }, more));

  it('finds a user by login, short name or id, and suspends and unsuspends the user', async () => {
    const user = server.user(LOGIN);
    expect(await execute('disable_user')).toEqual({
      kind: 'done',
      message: `The account ${LOGIN} is disabled.`,
      data: { user_id: user.id, user: LOGIN, changed: true },
    });
    expect(server.lines).toEqual([READ, `POST /api/v1/users/${user.id}/lifecycle/suspend`]);
    expect(user.status).toBe('SUSPENDED');
    await execute('enable_user', 'Ada');
    expect(user.status).toBe('SUSPENDED');
    await execute('enable_user', 'ada');
    expect(server.lines.at(-1)).toBe(`POST /api/v1/users/${user.id}/lifecycle/unsuspend`);
    expect(user.status).toBe('ACTIVE');
    await execute('disable_user', user.id);
    expect(user.status).toBe('SUSPENDED');
  });

  it.each(['SUSPENDED', 'DEPROVISIONED'])(
    'changes nothing if the user is already %s, and changes nothing on rollback',
    async (status) => {
      const user = server.user(LOGIN, status);
      const done = await execute('disable_user');
      expect(done).toMatchObject({ kind: 'done', data: { changed: false } });
      await execute('enable_user', LOGIN, { undoes: { changed: false } });
      expect(user.status).toBe(status);
      expect(server.lines).toEqual([READ]);
    },
  );

  it('shows the message of Okta if a user cannot be suspended', async () => {
    server.user(LOGIN, 'STAGED');
    expect(await execute('disable_user')).toEqual({
      kind: 'refused',
      message:
        'Okta answered with status 400: E0000000, Cannot do this to a user in STAGED, the cause.',
    });
  });

  it('succeeds if Okta refuses because the user was suspended a moment before', async () => {
    const { id } = server.user(LOGIN, 'SUSPENDED');
    server.play({ status: 200, body: { id, status: 'ACTIVE', profile: { login: LOGIN } } });
    expect(await execute('disable_user')).toMatchObject({ kind: 'done' });
  });

  it('ends the sessions and the tokens of a user', async () => {
    const user = server.user(LOGIN);
    expect(await execute('revoke_sessions')).toMatchObject({ kind: 'done' });
    expect(server.lines.at(-1)).toBe(`DELETE /api/v1/users/${user.id}/sessions?oauthTokens=true`);
    expect(user.sessionsCleared).toBe(1);
  });

  it('resets a password by mail, and never repeats the request', async () => {
    const user = server.user(LOGIN);
    expect(await execute('reset_password')).toMatchObject({ kind: 'done' });
    expect(user).toMatchObject({ status: 'RECOVERY', mails: 1 });
    server.play('fine', 'drop-after');
    await expect(execute('reset_password')).rejects.toThrow(OutcomeUnknownError);
    expect(user.mails).toBe(2);
    expect(site.connector.idempotent('reset_password')).toBe(false);
  });

  it('refuses to change the owner of its token, or a user whom the action does not name', async () => {
    server.user(LOGIN);
    expect(await execute('disable_user', 'Me')).toMatchObject({
      kind: 'refused',
      message: '"Me" is not a valid user name.',
    });
    const body = { id: '00u9', status: 'ACTIVE', profile: { login: 'eve@example.com' } };
    server.play({ status: 200, body });
    expect(await execute('disable_user')).toMatchObject({
      kind: 'refused',
      message: 'Okta returned a user who was not requested.',
    });
  });

  it('unsuspends the user that it suspended, even if another user has the login now', async () => {
    const user = server.user(LOGIN);
    const done = await execute('disable_user');
    if (done.kind !== 'done') throw new Error(done.message);
    server.users[0] = { ...user, login: 'ada.old@example.com' };
    const other = server.user(LOGIN, 'SUSPENDED');
    const undoes = done.data;
    await execute('enable_user', LOGIN, { undoes });
    expect([server.users[0].status, other.status]).toEqual(['ACTIVE', 'SUSPENDED']);
    const probed = await site.connector.probe!(callOf('enable_user', { user: LOGIN }, { undoes }));
    expect(probed).toMatchObject({ kind: 'done', data: { user: 'ada.old@example.com' } });
  });

  it('checks whether the found login is a protected target before it changes anything', async () => {
    const user = server.user(LOGIN);
    const types = ['disable_user', 'enable_user', 'revoke_sessions', 'reset_password'] as const;
    const calls = types.map((type) => callOf(type, { user: user.id }));
    await site.expectProtection(calls, LOGIN);
    expect(server.lines.every((line) => line.startsWith('GET'))).toBe(true);
  });

  describe('when Okta fails', () => {
    beforeEach(() => server.user(LOGIN));

    it('reports a rejected token without showing it', async () => {
      site.connect({ api_token: '00another-token' });
      expect(await execute('disable_user')).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('Okta does not accept the credentials: E0000001'),
      });
      site.connect();
      const errorSummary = `No ${server.config.api_token}`;
      server.play({ status: 401, body: { errorCode: 'E0000011', errorSummary } });
      expect(await execute('disable_user')).toMatchObject({
        message: 'Okta does not accept the credentials: E0000011, No [secret].',
      });
    });

    it.each([400, 403, 404, 409])('reports a refusal after status %i', async (status) => {
      server.play('fine', status);
      const outcome = await execute('disable_user');
      expect(outcome).toMatchObject({ kind: 'refused' });
      expect(outcome).toHaveProperty('message', expect.stringContaining(`status ${status}: E`));
    });

    it('retries after status 429', async () => {
      server.retryAfter = '0';
      server.play('fine', 429);
      expect(await execute('disable_user')).toMatchObject({ kind: 'done' });
      server.retryAfter = '60';
      server.play('fine', 429);
      expect(await execute('enable_user')).toMatchObject({ kind: 'refused' });
    });

    it.each<Trouble>([500, 'html', 'drop', 'drop-after'])(
      'reports an unknown outcome of a suspension after %p, and reads the user before it repeats the suspension',
      async (trouble) => {
        server.play('fine', trouble);
        await expect(execute('disable_user')).rejects.toThrow(OutcomeUnknownError);
        const [user] = server.users;
        const probed = await site.connector.probe!(callOf('disable_user', { user: LOGIN }));
        expect(probed).toEqual(
          user!.status === 'SUSPENDED' ? expect.objectContaining({ kind: 'done' }) : 'unknown',
        );
        expect(await execute('disable_user', LOGIN, { attempt: 2 })).toMatchObject({
          kind: 'done',
        });
        expect(user!.status).toBe('SUSPENDED');
      },
    );

    it.each<Trouble>([500, 'html', 'drop', { status: 200, body: [] }])(
      'reports that nothing was sent if the answer to a read is %p',
      async (trouble) => {
        server.play(trouble, trouble, trouble);
        await expect(execute('disable_user')).rejects.toThrow(UnreachableError);
      },
    );

    it('treats an error in an answer with status 200 as a refusal', async () => {
      server.play('fine', { status: 200, body: { errorCode: 'E0000009', errorCauses: [7] } });
      expect(await execute('revoke_sessions')).toMatchObject({
        kind: 'refused',
        message: 'Okta answered with status 200: E0000009.',
      });
    });

    it('reports a timeout if Okta does not answer', async () => {
      http.hasty = true;
      server.play('fine', 'hang');
      await expect(execute('disable_user')).rejects.toThrow('No complete response came in time.');
    });

    it('sends nothing more after the permit check refuses', async () => {
      gate.refuseFrom = 2;
      await expect(execute('disable_user')).rejects.toThrow('the switch is on');
      expect(server.users[0]!.status).toBe('ACTIVE');
    });
  });

  it.each<[ActionTypeName, string, string]>([
    ['disable_user', 'SUSPENDED', 'done'],
    ['disable_user', 'RECOVERY', 'unknown'],
    ['enable_user', 'ACTIVE', 'done'],
    ['enable_user', 'SUSPENDED', 'unknown'],
    ['reset_password', 'RECOVERY', 'done'],
    ['reset_password', 'ACTIVE', 'unknown'],
    ['revoke_sessions', 'ACTIVE', 'unknown'],
  ])(
    'given an unknown outcome of %s and a user in the state %s, returns %s',
    async (type, status, expected) => {
      server.user(LOGIN, status);
      const probed = await site.connector.probe!(callOf(type, { user: LOGIN }));
      expect(probed === 'unknown' ? probed : probed.kind).toBe(expected);
    },
  );

  it.each([
    '../groups',
    'ada@example.com/lifecycle/deactivate?x=',
    'a\r\nx-admin: 1',
    '{{ secrets.api_token }}',
    '%2e%2e%2fgroups',
    '',
  ])('treats %j as a plain name', async (name) => {
    server.user(LOGIN);
    for (const type of ['disable_user', 'revoke_sessions', 'reset_password'] as const) {
      expect(await execute(type, name)).toMatchObject({ kind: 'refused' });
    }
    expect(server.users[0]).toMatchObject({ status: 'ACTIVE', sessionsCleared: 0, mails: 0 });
    for (const { path } of server.calls) expect(path['user']).toBe(name.trim());
  });

  it('is tested by reading the owner of its token', async () => {
    expect(await site.connector.test()).toMatchObject({
      success: true,
      message: 'Okta accepts the token of soc-service@example.com.',
    });
    for (const trouble of [401, 403, 500, 'html', 'drop'] as const) {
      server.play(trouble);
      expect(await site.connector.test()).toMatchObject({ success: false });
    }
  });

  it('rejects actions that it does not provide', async () => {
    expect(await execute('quarantine_email')).toMatchObject({ kind: 'refused' });
    expect(await site.connector.probe!(callOf('quarantine_email', {}))).toBe('unknown');
  });
});
