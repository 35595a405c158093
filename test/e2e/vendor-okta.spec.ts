import { OktaServer } from '../support/vendors/okta-server.js';
import { VendorWorld } from '../support/vendors/vendor-world.js';

const USER = 'ada@example.com';

describe('okta', () => {
  const server = new OktaServer();
  let world: VendorWorld;

  beforeAll(async () => {
    await server.start();
    world = await VendorWorld.start('okta', server.config);
  });
  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(async () => {
    await world?.close();
    await server.stop();
  });

  it('is registered without showing its token, and tested with it', async () => {
    expect(world.connector.status).toBe(201);
    expect(world.connector.text).not.toContain(server.config.api_token);
    expect(await world.test()).toMatchObject({ success: true });
  });

  it('suspends a user, and a rollback lets it in again', async () => {
    const user = server.user(USER);
    const { id, status } = await world.execute('disable_user', { user: USER });
    expect([status, user.status]).toEqual(['completed', 'SUSPENDED']);
    expect(await world.rollBack(id)).toMatchObject({ status: 'completed' });
    expect(user.status).toBe('ACTIVE');
  });

  it('ends sessions and resets a password', async () => {
    const user = server.user(USER);
    await world.execute('revoke_sessions', { user: USER });
    await world.execute('reset_password', { user: USER });
    expect(user).toMatchObject({ sessionsCleared: 1, mails: 1, status: 'RECOVERY' });
  });
});
