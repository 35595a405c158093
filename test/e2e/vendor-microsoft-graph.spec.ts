import { MicrosoftGraphServer } from '../support/vendors/microsoft-graph-server.js';
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

  it('finds out what became of a move whose answer was lost, and a rollback still undoes it', async () => {
    const mail = server.mail(MESSAGE);
    server.play('fine', 'fine', 'drop-after');
    const action = await world.execute('quarantine_email', MAIL);
    expect(action).toMatchObject({ status: 'completed' });
    await world.rollBack(action.id);
    expect(mail.folder).toBe('folder-inbox');
  });

  it('says of a mail that is not there that nothing was done', async () => {
    expect(await world.execute('delete_email', MAIL)).toMatchObject({
      status: 'failed',
      result: { code: 'refused' },
    });
  });
});
