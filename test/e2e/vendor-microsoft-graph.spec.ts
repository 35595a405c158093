import { MicrosoftGraphServer } from '../support/vendors/microsoft-graph-server.js';
import { DataSource } from 'typeorm';
import { eventually } from '../support/jobs/eventually.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';
import { useStarted } from '../support/use-started.js';
import { VendorWorld } from '../support/vendors/vendor-world.js';

const MESSAGE = '<a1@example.net>';
const USER = 'ada@example.com';
const MAIL = { message_id: MESSAGE, recipient: USER };

describe('microsoft_graph', () => {
  const server = new MicrosoftGraphServer();
  const world = useStarted(() => VendorWorld.start('microsoft_graph', server));

  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));

  describe('the preview of a waiting action', () => {
    const slack = useStarted(() => new SlackHookServer().start());

    const previewOf = async (type: 'delete_email') => {
      const body = { action: type, parameters: MAIL };
      const answer = await world.admin.post('/api/actions/execute', body);
      expect(answer.body.data.status).toBe('pending_approval');
      const action = await eventually(
        () => world.get(answer.body.data.action_id),
        ({ preview }) => preview !== undefined,
      );
      return action.preview;
    };

    it('is the number of affected mails', async () => {
      server.mail(MESSAGE, 'archive');
      server.mail(MESSAGE);
      server.mail(MESSAGE, 'junkemail');
      expect(await previewOf('delete_email')).toEqual({
        count: 3,
        message: `Deletes 3 mails in ${USER}.`,
      });
      expect(server.lines.filter((line) => !line.startsWith('GET'))).toEqual([]);
    });

    it('appears in the approval message', async () => {
      const body = {
        name: 'soc',
        type: 'slack',
        events: ['action.pending_approval'],
        config: { webhook_url: slack.hook },
      };
      const { id } = (await world.admin.post('/api/notification-channels', body)).body.data;
      server.mail(MESSAGE);
      // The receiver fails until the preview is stored, so the message is sent with the preview.
      slack.play(...Array.from({ length: 200 }, () => 503 as const));
      await previewOf('delete_email');
      slack.forget();
      await world.app.nest.get(DataSource).query(`
          with held as (update notification_deliveries set held_until = null)
          update work set ready = true, due_at = now()
           where kind = 'notification' and not ready and worker is null and due_at < 'infinity'`);
      const [message] = await eventually(
        () => slack.messages,
        (messages) => messages.length > 0,
      );
      expect(JSON.stringify(message)).toContain('Deletes 1 mail in ada[@]example[.]com.');
      await world.admin.delete(`/api/notification-channels/${id}`);
    });

    it('reports that the number is unknown', async () => {
      for (let mail = 0; mail < 20; mail += 1) server.mail(MESSAGE);
      expect(await previewOf('delete_email')).toEqual({
        message: '20 or more mails have this message id: none is changed.',
      });
      server.playAt(/\/messages/, 'html', 'html', 'html', 'html');
      const { count, message } = await previewOf('delete_email');
      expect(count).toBeUndefined();
      expect(message).toMatch(/^What the action would change is not known: /);
    });
  });

  describe('does not change a mail of another sender with the same Message-ID', () => {
    const post = async (path: string, body: object) =>
      (await world.admin.post(`/api${path}`, body)).body.data;
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
      const { action_id } = await post(`/incidents/${await incident()}/actions`, {
        action: 'quarantine_email',
        parameters: { message_id, recipient: USER },
      });
      expect(await world.get(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect([meant!.folder, other!.folder]).toEqual(['folder-junk', 'folder-inbox']);
    });

    it('when a person deletes the mail', async () => {
      mails();
      const { action_id } = await post(`/incidents/${await incident()}/actions`, {
        action: 'delete_email',
        parameters: MAIL,
      });
      await post(`/actions/${action_id}/approve`, {});
      expect(await world.get(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect(server.mails.map(({ from }) => from)).toEqual(['boss@example.com']);
    });

    it('when a quarantine with unknown effect is rolled back', async () => {
      const [meant, other] = mails();
      other!.folder = 'folder-junk';
      const id = await incident();
      // The connection breaks after the move, so its response is lost.
      server.playAt(/^POST \S+\/move$/, 'drop-after');
      const { action_id } = await post(`/incidents/${id}/actions`, {
        action: 'quarantine_email',
        parameters: MAIL,
      });
      expect(await world.rollBack(action_id)).toMatchObject({ status: 'completed', ...LEFT });
      expect([meant!.folder, other!.folder]).toEqual(['folder-inbox', 'folder-junk']);
    });
  });
});
