import { MicrosoftGraphServer } from '../support/vendors/microsoft-graph-server.js';
import { DataSource } from 'typeorm';
import { eventually } from '../support/jobs/eventually.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';
import { VendorWorld } from '../support/vendors/vendor-world.js';

const MESSAGE = '<a1@example.net>';
const USER = 'ada@example.com';
const MAIL = { message_id: MESSAGE, recipient: USER };

describe('microsoft_graph', () => {
  const server = new MicrosoftGraphServer();
  let world: VendorWorld;

  beforeAll(async () => {
    await server.start();
    world = await VendorWorld.start('microsoft_graph', server.config);
  });
  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(async () => {
    await world?.close();
    await server.stop();
  });

  it('is registered without showing its secret, and tested with it', async () => {
    expect(world.connector.status).toBe(201);
    expect(world.connector.text).not.toContain(server.config.client_secret);
    expect(await world.test()).toMatchObject({ success: true });
  });

  it('quarantines a mail, and a rollback takes it back to its folder', async () => {
    const mail = server.mail(MESSAGE, 'archive');
    const oldId = mail.id;
    const action = await world.execute('quarantine_email', MAIL);
    expect(action).toMatchObject({
      status: 'completed',
      result: { success: true, data: { moved: [{ id: mail.id, from: 'folder-archive' }] } },
    });
    expect([mail.id === oldId, mail.folder]).toEqual([false, 'folder-junk']);
    expect(await world.rollBack(action.id)).toMatchObject({ status: 'completed' });
    expect(mail.folder).toBe('folder-archive');
  });

  describe('the preview of a waiting action', () => {
    const slack = new SlackHookServer();
    let waits: VendorWorld;

    beforeAll(async () => {
      await slack.start();
      const levels = { quarantine_email: 'senior', delete_email: 'senior', disable_user: 'senior' };
      waits = await VendorWorld.start('microsoft_graph', server.config, {
        APPROVAL_LEVELS: JSON.stringify(levels),
      });
    });
    afterAll(async () => {
      await waits?.close();
      await slack.stop();
    });

    const previewOf = async (type: 'quarantine_email' | 'delete_email', repeat = true) => {
      const body = { action: type, parameters: MAIL, repeat };
      const answer = await waits.admin.request('POST', '/api/actions/execute', { body });
      expect(answer.body.data.status).toBe('pending_approval');
      const action = await eventually(
        () => waits.get(answer.body.data.action_id),
        ({ preview }) => preview !== undefined,
      );
      return action.preview;
    };

    it('is the number of affected mails', async () => {
      server.mail(MESSAGE, 'archive');
      server.mail(MESSAGE);
      server.mail(MESSAGE, 'junkemail');
      expect(await previewOf('quarantine_email')).toEqual({
        count: 2,
        message: `Moves 2 mails to quarantine in ${USER}.`,
      });
      expect(await previewOf('delete_email')).toEqual({
        count: 3,
        message: `Deletes 3 mails in ${USER}.`,
      });
      expect(server.lines.filter((line) => !line.startsWith('GET'))).toEqual([]);
    });

    it('is in the message that asks for the approval', async () => {
      const body = {
        name: 'soc',
        type: 'slack',
        events: ['action.pending_approval'],
        config: { webhook_url: slack.hook },
      };
      const { id } = (await waits.admin.request('POST', '/api/notification-channels', { body }))
        .body.data;
      server.mail(MESSAGE);
      // Fails until the preview is there, however slow it is.
      slack.play(...Array.from({ length: 20 }, () => 503 as const));
      await previewOf('delete_email');
      slack.forget();
      await waits.app.nest
        .get(DataSource)
        .query(`update notification_deliveries set due_at = now(), held_until = null`);
      const [message] = await eventually(
        () => slack.messages,
        (messages) => messages.length > 0,
      );
      expect(JSON.stringify(message)).toContain('Deletes 1 mail in ada[@]example[.]com.');
      await waits.admin.request('DELETE', `/api/notification-channels/${id}`);
    });

    it('reports that there is no such mail', async () => {
      expect(await previewOf('delete_email')).toEqual({
        count: 0,
        message: `Deletes 0 mails in ${USER}.`,
      });
    });

    it('reports if it is unknown', async () => {
      for (let mail = 0; mail < 20; mail += 1) server.mail(MESSAGE);
      expect(await previewOf('delete_email')).toEqual({
        message: '20 or more mails have this message id, so the action was not executed.',
      });
      server.play('html', 'html', 'html', 'html');
      const { count, message } = await previewOf('delete_email');
      expect(count).toBeUndefined();
      expect(message).toMatch(/^What the action would change is not known: /);
    });
  });

  describe('does not change a mail of another sender with the same Message-ID', () => {
    let free: VendorWorld;

    beforeAll(async () => {
      free = await VendorWorld.start('microsoft_graph', server.config, {
        APPROVAL_LEVELS: JSON.stringify({ delete_email: 'none' }),
        ACTION_REPEAT_MINUTES: '0',
      });
    });
    afterAll(() => free?.close());

    const post = async (path: string, body: object) =>
      (await free.admin.request('POST', `/api${path}`, { body })).body.data;
    const incident = async (): Promise<string> => {
      const raw_data = { ...MAIL, sender: 'Mallory <mallory@example.net>', subject: 'Pay' };
      const body = { incident_type: 'phishing', source: 'test', severity: 'low', raw_data };
      return (await post('/incidents', body)).id;
    };
    const mails = () => [
      server.mail(MESSAGE),
      server.mail(MESSAGE, 'inbox', USER, 'boss@example.com'),
    ];
    const LEFT = { result: { data: { left_alone: [{ from: 'boss@example.com' }] } } };

    it.each([MESSAGE, 'A1@EXAMPLE.NET'])('when a person quarantines %s', async (message_id) => {
      const [meant, other] = mails();
      const parameters = { message_id, recipient: USER };
      const { action_id } = await post(`/incidents/${await incident()}/actions`, {
        action: 'quarantine_email',
        parameters,
      });
      expect(await free.get(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect([meant!.folder, other!.folder]).toEqual(['folder-junk', 'folder-inbox']);
    });

    it('when a step of a playbook quarantines it', async () => {
      const [meant, other] = mails();
      const name = 'quarantine-at-once';
      const steps = [{ name: 'move', action: 'quarantine_email', parameters: MAIL }];
      await post('/playbooks', { name, triggers: {}, steps });
      const run = await post(`/playbooks/${name}/run`, { incident_id: await incident() });
      const { steps: done } = await eventually(
        async () => (await free.admin.request('GET', `/api/playbook-runs/${run.run_id}`)).body.data,
        ({ status }) => status === 'completed',
      );
      expect(done[0]).toMatchObject(LEFT);
      expect([meant!.folder, other!.folder]).toEqual(['folder-junk', 'folder-inbox']);
    });

    it('when a person deletes it', async () => {
      mails();
      const { action_id } = await post(`/incidents/${await incident()}/actions`, {
        action: 'delete_email',
        parameters: MAIL,
      });
      expect(await free.get(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect(server.mails.map(({ from }) => from)).toEqual(['boss@example.com']);
    });

    it('when a quarantine with unknown effect is rolled back', async () => {
      const [meant, other] = mails();
      other!.folder = 'folder-junk';
      const id = await incident();
      // The answer to the move is lost, and so is what it moved.
      server.play('fine', 'fine', 'drop-after');
      const { action_id } = await post(`/incidents/${id}/actions`, {
        action: 'quarantine_email',
        parameters: MAIL,
      });
      expect(await free.rollBack(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect([meant!.folder, other!.folder]).toEqual(['folder-inbox', 'folder-junk']);
    });
  });

  it('disables an account, and a rollback enables it again', async () => {
    const user = server.user(USER);
    const { id, status } = await world.execute('disable_user', { user: USER });
    expect([status, user.accountEnabled]).toEqual(['completed', false]);
    expect(await world.rollBack(id)).toMatchObject({ status: 'completed' });
    expect(user.accountEnabled).toBe(true);
  });

  it('disables an account that is disabled already, and a rollback leaves it so', async () => {
    const user = server.user(USER, false);
    const { id, status } = await world.execute('disable_user', { user: USER });
    expect(status).toBe('completed');
    expect(await world.rollBack(id)).toMatchObject({ status: 'completed' });
    expect(user.accountEnabled).toBe(false);
  });

  it('resolves the outcome of a move whose answer was lost, and a rollback still undoes it', async () => {
    const mail = server.mail(MESSAGE);
    server.play('fine', 'fine', 'drop-after');
    const action = await world.execute('quarantine_email', MAIL);
    expect(action).toMatchObject({ status: 'completed' });
    await world.rollBack(action.id);
    expect(mail.folder).toBe('folder-inbox');
  });

  it('reports no effect for a missing mail', async () => {
    expect(await world.execute('delete_email', MAIL)).toMatchObject({
      status: 'failed',
      result: { code: 'refused' },
    });
  });
});
