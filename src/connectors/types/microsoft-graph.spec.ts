import { MicrosoftGraphServer } from '../../../test/support/vendors/microsoft-graph-server.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import type { Trouble } from '../../../test/support/vendors/vendor-server.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { ActionCall } from '../connector-type.js';
import { microsoftGraph } from './microsoft-graph.js';

const MESSAGE = '<a1@example.net>';
const MAILBOX = 'ada@example.com';
const BASE = '/v1.0/users/ada%40example.com';
const LIST = `GET ${BASE}/messages?$filter=internetMessageId%20eq%20%27%3Ca1%40example.net%3E%27&$select=id%2CinternetMessageId%2CparentFolderId%2Cfrom%2Csender&$top=20`;
const JUNK = `GET ${BASE}/mailFolders/junkemail?$select=id`;

describe('a connector to Microsoft Graph', () => {
  const server = new MicrosoftGraphServer();
  const site = useVendor(microsoftGraph, server);
  const { gate, http } = site;
  const mailOrUser = (
    type: ActionTypeName,
    parameters: ActionCall['parameters'] = {},
    more: Partial<ActionCall> = {},
  ) => {
    const mail = { message_id: MESSAGE, recipient: MAILBOX };
    const target = type.endsWith('_email') ? mail : { user: MAILBOX };
    return callOf(type, { ...target, ...parameters }, more);
  };
  const execute = (...call: Parameters<typeof mailOrUser>) => site.execute(mailOrUser(...call));

  describe('when it previews an action', () => {
    it('counts the mails of the sender that the action would change, with permit checks', async () => {
      server.mail(MESSAGE);
      server.mail(MESSAGE, 'inbox', MAILBOX, 'Boss@example.com');
      const call = mailOrUser('quarantine_email', {}, { sender: 'mallory@example.net' });
      expect(await site.connector.preview(call, gate)).toEqual({
        count: 1,
        message: `Moves 1 mail to quarantine in ${MAILBOX}. Mails with the same message_id from other senders (boss@example.com) are left alone.`,
      });
      expect(server.lines).toEqual([LIST, JUNK]);
      expect(gate.left).toBe(2);
    });

    it('returns no preview for an action without mails', async () => {
      expect(await site.connector.preview(mailOrUser('disable_user'), gate)).toBeUndefined();
      expect(server.calls).toEqual([]);
    });
  });

  describe('when it quarantines a mail', () => {
    it('moves each copy, and stores the new ids and the old folders', async () => {
      const [first, second] = [server.mail(MESSAGE), server.mail(MESSAGE, 'archive')];
      server.mail('<other@example.net>');
      const ids = [first.id, second.id];
      expect(await execute('quarantine_email')).toEqual({
        kind: 'done',
        message: 'The mail is quarantined.',
        data: {
          mailbox: MAILBOX,
          moved: [
            { id: first.id, from: 'folder-inbox' },
            { id: second.id, from: 'folder-archive' },
          ],
        },
      });
      expect(server.lines).toEqual([
        LIST,
        JUNK,
        ...ids.map((id) => `POST ${BASE}/messages/${encodeURIComponent(id)}/move`),
      ]);
      expect(server.calls.at(-1)!.body).toEqual({ destinationId: 'junkemail' });
      expect(server.mails.map(({ folder }) => folder)).toEqual([
        'folder-junk',
        'folder-junk',
        'folder-inbox',
      ]);
      expect(gate.left).toBe(4);
    });

    it('moves the mail in the mailboxes of all recipients that have it, and restores each copy on rollback', async () => {
      const [bob, eve] = ['bob@example.com', 'eve@example.com'];
      const mails = [server.mail(MESSAGE), server.mail(MESSAGE, 'archive', bob)];
      const recipient = `${MAILBOX}, ${bob}, ${eve}`;
      const preview = await site.connector.preview(
        mailOrUser('quarantine_email', { recipient }),
        gate,
      );
      expect(preview).toMatchObject({ count: 2 });
      const outcome = await execute('quarantine_email', { recipient });
      expect(mails.map(({ folder }) => folder)).toEqual(['folder-junk', 'folder-junk']);
      expect(outcome).toMatchObject({
        kind: 'done',
        message: 'In 2 of 3 mailboxes: The mail is quarantined.',
        data: { mailbox: `${MAILBOX}, ${bob}` },
      });
      const { data: undoes } = outcome as { data: Record<string, unknown> };
      await execute('release_email', { recipient: `${MAILBOX}, ${bob}` }, { undoes });
      expect(mails.map(({ folder }) => folder)).toEqual(['folder-inbox', 'folder-archive']);
      const nowhere = await execute('delete_email', { recipient: `${eve}, eva@example.com` });
      expect(nowhere).toMatchObject({
        kind: 'refused',
        message: `No mail with this message_id is in ${eve}, eva@example.com.`,
      });
    });

    it('moves the mail once, even if the action runs twice', async () => {
      server.mail(MESSAGE);
      await execute('quarantine_email');
      const again = await execute('quarantine_email');
      expect(again).toMatchObject({ kind: 'done', data: { moved: [] } });
      expect(server.lines.filter((line) => line.startsWith('POST'))).toHaveLength(1);
    });

    it('uses the default mailbox if no recipient is named, and refuses without a default mailbox', async () => {
      server.mail(MESSAGE, 'inbox', 'soc@example.com');
      site.connect({ mailbox: 'soc@example.com' });
      const call = { message_id: 'a1@example.net', recipient: undefined };
      expect(await execute('quarantine_email', call)).toMatchObject({
        data: { mailbox: 'soc@example.com' },
      });
      site.connect();
      expect(await execute('quarantine_email', call)).toEqual({
        kind: 'refused',
        message: 'recipient is required: the connector has no default mailbox.',
      });
    });

    it.each([
      'mallory@example.net',
      'M. <Mallory@Example.net>',
      'mallory@example.net (Mallory)',
      'boss@example.com <mallory@example.net>',
      'list@example.net',
    ])(
      'moves the mail of the sender %s, and lists other senders of the same Message-ID',
      async (sender) => {
        const [meant, other] = [
          server.mail(MESSAGE),
          server.mail(MESSAGE, 'inbox', MAILBOX, 'Boss@example.com'),
        ];
        const only = sender.startsWith('list') ? [meant, other] : [meant];
        const done = await execute('quarantine_email', {}, { sender });
        expect(done).toMatchObject({
          kind: 'done',
          data: { moved: only.map(() => ({ from: 'folder-inbox' })) },
        });
        expect(other.folder).toBe(only.length === 2 ? 'folder-junk' : 'folder-inbox');
        if (only.length === 2) return;
        expect(done).toMatchObject({
          message:
            'The mail is quarantined. Mails with the same message_id from other senders (boss@example.com) are left alone.',
          data: { left_alone: [{ from: 'boss@example.com' }] },
        });
      },
    );

    it('never quarantines, releases or deletes a mail of another sender', async () => {
      const other = server.mail(MESSAGE, 'inbox', MAILBOX, 'boss@example.com');
      const sender = 'mallory@example.net';
      for (const type of ['quarantine_email', 'delete_email', 'release_email'] as const) {
        expect(await execute(type, {}, { sender })).toEqual({
          kind: 'refused',
          message: `No mail of the sender of the incident is in ${MAILBOX}. Mails with the same message_id from other senders (boss@example.com) are left alone.`,
        });
      }
      expect(server.mails).toEqual([other]);
      expect(await site.connector.probe!(mailOrUser('delete_email', {}, { sender }))).toMatchObject(
        {
          kind: 'done',
        },
      );
    });

    it.each(['The boss', 'boss@example.com, mallory@example.net', 'boss@'])(
      'changes no mail for the sender %j, which is not an address',
      async (sender) => {
        const mail = server.mail(MESSAGE, 'inbox', MAILBOX, 'boss@example.com');
        const message = 'The sender of the incident is not a mail address, so no mail is changed.';
        for (const type of ['quarantine_email', 'delete_email', 'release_email'] as const) {
          expect(await execute(type, {}, { sender })).toEqual({ kind: 'refused', message });
        }
        const call = mailOrUser('delete_email', {}, { sender });
        expect(await site.connector.preview(call, gate)).toEqual({ message });
        expect(await site.connector.probe!(call)).toBe('unknown');
        expect(server.mails).toEqual([mail]);
      },
    );

    it('refuses if the action names no sender and several senders used the Message-ID', async () => {
      const mails = [server.mail(MESSAGE), server.mail(MESSAGE, 'inbox', MAILBOX, 'b@example.com')];
      const message =
        'Mails of several senders have this message_id (mallory@example.net, b@example.com), and the action names no sender: all are left alone. Request the action for an incident that names the sender.';
      for (const type of ['quarantine_email', 'delete_email', 'release_email'] as const) {
        expect(await execute(type)).toEqual({ kind: 'refused', message });
      }
      const call = mailOrUser('quarantine_email');
      expect(await site.connector.preview(call, gate)).toEqual({ message });
      expect(await site.connector.probe!(mailOrUser('delete_email'))).toBe('unknown');
      expect(server.mails).toEqual(mails);
      expect(mails.every(({ folder }) => folder === 'folder-inbox')).toBe(true);
    });

    it('refuses if mails with the Message-ID come from several senders', async () => {
      const bob = 'bob@example.com';
      const mails = [server.mail(MESSAGE), server.mail(MESSAGE, 'inbox', bob, 'b@example.com')];
      const call = { recipient: `${MAILBOX}, ${bob}` };
      expect(await execute('delete_email', call)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('(mallory@example.net, b@example.com)') as string,
      });
      expect(server.mails).toEqual(mails);
    });

    it('on rollback, restores only the quarantined mail, even if another sender used the Message-ID later', async () => {
      const mail = server.mail(MESSAGE);
      const { data: undoes } = (await execute('quarantine_email')) as {
        data: Record<string, unknown>;
      };
      const later = server.mail(MESSAGE, 'junkemail', MAILBOX, 'b@example.com');
      expect(await execute('release_email', {}, { undoes })).toMatchObject({ kind: 'done' });
      expect([mail.folder, later.folder]).toEqual(['folder-inbox', 'folder-junk']);
    });

    it('refuses if no mail or 20 mails have the Message-ID', async () => {
      expect(await execute('quarantine_email')).toMatchObject({
        kind: 'refused',
        message: `No mail with this message_id is in ${MAILBOX}.`,
      });
      for (let copy = 0; copy < 20; copy += 1) server.mail(MESSAGE);
      expect(await execute('quarantine_email')).toMatchObject({ kind: 'refused' });
      expect(server.mails.every(({ folder }) => folder === 'folder-inbox')).toBe(true);
    });

    it('moves nothing if the answer contains a mail with another Message-ID', async () => {
      const value = [{ id: 'x', internetMessageId: '<b@example.net>', parentFolderId: 'y' }];
      server.play({ status: 200, body: { value } });
      await expect(execute('quarantine_email')).rejects.toThrow('another Message-ID');
      expect(server.lines).toHaveLength(1);
    });

    it('reports an unknown outcome if the move of the second copy is refused', async () => {
      server.mail(MESSAGE);
      server.mail(MESSAGE, 'archive');
      server.play('fine', 'fine', 'fine', 403);
      await expect(execute('quarantine_email')).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
        message:
          'Changed copies: 1. The next change was refused. Microsoft Graph answered with status 403: Error403, says 403.',
      });
    });
  });

  describe('when it releases a mail', () => {
    const undoing = async () => {
      const done = await execute('quarantine_email');
      if (done.kind !== 'done') throw new Error('It is not quarantined.');
      return { undoes: done.data! };
    };

    it('moves the mail back to its folder before the quarantine, and moves no other copy', async () => {
      server.mail(MESSAGE, 'archive');
      server.mail(MESSAGE, 'junkemail');
      const released = await execute('release_email', {}, await undoing());
      expect(released).toMatchObject({ kind: 'done', data: { released: 1 } });
      expect(server.mails.map(({ folder }) => folder)).toEqual(['folder-archive', 'folder-junk']);
    });

    it('moves the mail to the inbox if its folder before the quarantine is unknown', async () => {
      server.mail(MESSAGE, 'archive');
      await execute('quarantine_email', {}, { attempt: 2 });
      await execute('release_email');
      expect(server.mails[0]!.folder).toBe('folder-inbox');
    });

    it('does not move a copy that the user has moved meanwhile', async () => {
      const mail = server.mail(MESSAGE, 'archive');
      const undo = await undoing();
      mail.folder = 'folder-inbox';
      expect(await execute('release_email', {}, undo)).toMatchObject({ data: { released: 0 } });
      expect(mail.folder).toBe('folder-inbox');
    });

    it('changes nothing if the quarantine moved nothing, or if the mail is no longer in quarantine', async () => {
      const mail = server.mail(MESSAGE, 'junkemail');
      const undone = await execute('release_email', {}, await undoing());
      expect(undone).toEqual({
        kind: 'done',
        message: 'Nothing to undo: the mail was in quarantine before.',
      });
      expect(mail.folder).toBe('folder-junk');
      await execute('release_email');
      expect(await execute('release_email')).toEqual({
        kind: 'done',
        message: 'The mail is not in quarantine.',
        data: { mailbox: MAILBOX, released: 0 },
      });
    });
  });

  it('deletes each copy of a mail permanently', async () => {
    server.mail(MESSAGE);
    server.mail(MESSAGE, 'junkemail');
    expect(await execute('delete_email')).toMatchObject({ kind: 'done', data: { deleted: 2 } });
    expect(server.mails).toEqual([]);
    expect(server.lines.at(-1)).toBe(`POST ${BASE}/messages/AAMk1%3D%3D/permanentDelete`);
    expect(await execute('delete_email')).toMatchObject({ kind: 'refused' });
  });

  describe('when it changes an account', () => {
    it('disables and enables the account, and reports whether anything changed', async () => {
      const user = server.user(MAILBOX);
      expect(await execute('disable_user')).toEqual({
        kind: 'done',
        message: `The account ${MAILBOX} is disabled.`,
        data: { user_id: user.id, user: MAILBOX, changed: true },
      });
      expect(user.accountEnabled).toBe(false);
      expect(server.calls.at(-1)!).toMatchObject({
        method: 'PATCH',
        url: `/v1.0/users/${user.id}`,
        body: { accountEnabled: false },
      });
      expect(await execute('disable_user')).toEqual({
        kind: 'done',
        message: `The account ${MAILBOX} is disabled.`,
        data: { user_id: user.id, user: MAILBOX, changed: false },
      });
      await execute('enable_user', {}, { undoes: { changed: true } });
      expect(user.accountEnabled).toBe(true);
    });

    it('on rollback, leaves an account disabled that was disabled before the action', async () => {
      const user = server.user(MAILBOX, false);
      const undone = await execute('enable_user', {}, { undoes: { changed: false } });
      expect(undone).toEqual({
        kind: 'done',
        message: 'Nothing to undo: the action changed nothing.',
        data: { changed: false },
      });
      expect(user.accountEnabled).toBe(false);
      expect(server.lines).toEqual([]);
    });

    it('does not report in a later attempt whether the account changed', async () => {
      server.user(MAILBOX, false);
      const done = await execute('disable_user', {}, { attempt: 2 });
      expect(done).toMatchObject({ kind: 'done' });
      expect(done).not.toHaveProperty('data.changed');
    });

    it('given the id of an account, checks the principal name before it changes anything', async () => {
      const { id } = server.user(MAILBOX);
      const types = ['disable_user', 'enable_user', 'revoke_sessions'] as const;
      await site.expectProtection(
        types.map((type) => callOf(type, { user: id })),
        MAILBOX,
      );
      expect(server.lines.every((line) => line.startsWith('GET'))).toBe(true);
    });

    it('revokes sessions with any successful answer, except an answer that denies the effect', async () => {
      const user = server.user(MAILBOX);
      expect(await execute('revoke_sessions')).toMatchObject({ kind: 'done' });
      expect(user.sessionsRevoked).toBe(1);
      server.play({ status: 204 }, { status: 200, body: { value: false } });
      expect(await execute('revoke_sessions')).toMatchObject({ kind: 'done' });
      expect(await execute('revoke_sessions')).toMatchObject({ kind: 'refused' });
    });
  });

  describe('when Graph fails', () => {
    beforeEach(() => server.user(MAILBOX));
    /** The first request succeeds. The given troubles begin with the second request, which changes the account. */
    const atChange = (...troubles: readonly Trouble[]) => server.play('fine', ...troubles);

    it('logs in once for many calls, and again after a token is rejected', async () => {
      await Promise.all(Array.from({ length: 5 }, () => execute('revoke_sessions')));
      expect(server.logins).toBe(1);
      server.tokens.expire();
      expect(await execute('disable_user')).toMatchObject({ kind: 'done' });
      expect(server.logins).toBe(2);
    });

    it('reports rejected credentials after two answers with status 401', async () => {
      server.play(401, 401);
      expect(await execute('revoke_sessions')).toEqual({
        kind: 'refused',
        message:
          'Microsoft Graph does not accept the credentials: InvalidAuthenticationToken, says 401.',
      });
    });

    it('shows the refusal of the login service', async () => {
      site.connect({ client_secret: 'wrong-secret-value' });
      expect(await execute('revoke_sessions')).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('invalid_client, The client secret is wrong.'),
      });
      expect(gate.left).toBe(0);
    });

    it.each<Trouble>([500, 'html', 'drop'])(
      'sends nothing if the login service answers with %p',
      async (trouble) => {
        server.playAtLogin(trouble, trouble, trouble);
        await expect(execute('revoke_sessions')).rejects.toThrow(UnreachableError);
        expect(gate.left).toBe(0);
      },
    );

    it.each([400, 403, 404, 409])('reports a refusal after status %i', async (status) => {
      atChange(status);
      expect(await execute('disable_user')).toEqual({
        kind: 'refused',
        message: `Microsoft Graph answered with status ${status}: Error${status}, says ${status}.`,
      });
    });

    it('retries any request after status 429, even a move', async () => {
      server.mail(MESSAGE);
      server.retryAfter = '0';
      server.play('fine', 'fine', 429);
      expect(await execute('quarantine_email')).toMatchObject({ kind: 'done' });
      server.retryAfter = '60';
      atChange(429);
      expect(await execute('disable_user')).toMatchObject({ kind: 'refused' });
    });

    it.each<Trouble>([500, 'html', 'drop', 'drop-after'])(
      'reports an unknown outcome if the answer to a move is %p, and reads the mail before it moves it again',
      async (trouble) => {
        const mail = server.mail(MESSAGE);
        server.play('fine', 'fine', trouble);
        await expect(execute('quarantine_email')).rejects.toThrow(OutcomeUnknownError);
        const isDone = mail.folder === 'folder-junk';
        const probed = await site.connector.probe!(mailOrUser('quarantine_email'));
        expect(probed).toEqual(isDone ? expect.objectContaining({ kind: 'done' }) : 'unknown');
        await execute('quarantine_email', {}, { attempt: 2 });
        expect(mail.folder).toBe('folder-junk');
      },
    );

    it('reports a timeout if Graph does not answer', async () => {
      await execute('revoke_sessions');
      http.hasty = true;
      server.mail(MESSAGE);
      server.play('fine', 'fine', 'hang');
      await expect(execute('quarantine_email')).rejects.toThrow(
        'No complete response came in time.',
      );
    });

    it.each<Trouble>([500, 'html', 'drop', { status: 200, body: { id: 'x' } }])(
      'reports that nothing was sent if the answer to a read is %p',
      async (trouble) => {
        server.play(trouble, trouble, trouble);
        await expect(execute('disable_user')).rejects.toThrow(UnreachableError);
      },
    );

    it('treats an error in an answer with status 200 as a refusal', async () => {
      atChange({ status: 200, body: { error: { code: 'Denied', message: 'no' } } });
      expect(await execute('disable_user')).toMatchObject({
        kind: 'refused',
        message: 'Microsoft Graph answered with status 200: Denied, no.',
      });
    });

    it('sends nothing more after the permit check refuses', async () => {
      gate.refuseFrom = 2;
      await expect(execute('disable_user')).rejects.toThrow('the switch is on');
      expect(server.users[0]!.accountEnabled).toBe(true);
    });
  });

  describe('when it resolves an unknown outcome', () => {
    it.each<[ActionTypeName, boolean, string]>([
      ['disable_user', false, 'done'],
      ['disable_user', true, 'unknown'],
      ['enable_user', true, 'done'],
      ['enable_user', false, 'unknown'],
    ])(
      'given %s and an account that is enabled (%p), returns %s',
      async (type, enabled, expected) => {
        server.user(MAILBOX, enabled);
        const probed = await site.connector.probe!(mailOrUser(type));
        expect(probed === 'unknown' ? probed : probed.kind).toBe(expected);
      },
    );

    it.each<[ActionTypeName, readonly string[], string]>([
      ['quarantine_email', ['junkemail', 'junkemail'], 'done'],
      ['quarantine_email', ['junkemail', 'inbox'], 'unknown'],
      ['quarantine_email', [], 'unknown'],
      ['release_email', ['inbox', 'archive'], 'done'],
      ['release_email', ['inbox', 'junkemail'], 'unknown'],
      ['delete_email', [], 'done'],
      ['delete_email', ['inbox'], 'unknown'],
    ])('given %s and copies in the folders %j, returns %s', async (type, folders, expected) => {
      for (const folder of folders) server.mail(MESSAGE, folder);
      const probed = await site.connector.probe!(mailOrUser(type));
      expect(probed === 'unknown' ? probed : probed.kind).toBe(expected);
    });

    it('leaves the outcome of revoke_sessions unknown', async () => {
      expect(await site.connector.probe!(mailOrUser('revoke_sessions'))).toBe('unknown');
    });
  });

  it.each([
    "' or internetMessageId ne '",
    'x> and true or <x',
    'a\r\nx-admin: 1',
    '../../users',
    '{{ secrets.client_secret }}',
    'a?$top=999&$filter=true#x',
    '%2e%2e%2fusers',
  ])('treats %j as a plain value', async (value) => {
    server.mail(MESSAGE);
    server.user('ada@example.com');
    const asMail = await execute('quarantine_email', { message_id: value });
    const asMailbox = await execute('quarantine_email', { recipient: value });
    const asUser = await execute('disable_user', { user: value });
    for (const outcome of [asMail, asMailbox, asUser]) expect(outcome.kind).toBe('refused');
    expect(server.mails[0]!.folder).toBe('folder-inbox');
    expect(server.users[0]!.accountEnabled).toBe(true);
    const told = server.calls.flatMap(({ path }) => [path['mailbox'], path['user']]);
    for (const name of told) expect([undefined, MAILBOX, value.trim()]).toContain(name);
  });

  describe('in a connection test', () => {
    it('reads one user', async () => {
      expect(await site.connector.test()).toMatchObject({
        success: true,
        message: 'Microsoft Graph accepts the credentials.',
      });
      expect(server.lines).toEqual(['GET /v1.0/users?$select=id&$top=1']);
    });

    it.each<[Trouble, boolean]>([
      [403, true],
      [401, false],
      [500, false],
      ['html', false],
      [{ status: 200, body: { hello: 'world' } }, false],
      ['drop', false],
    ])('given the answer %p, returns success: %p', async (trouble, success) => {
      server.play(trouble, trouble);
      expect(await site.connector.test()).toMatchObject({ success });
    });
  });

  it('rejects actions that it does not provide', async () => {
    expect(await execute('block_ip', {})).toMatchObject({ kind: 'refused' });
  });
});
