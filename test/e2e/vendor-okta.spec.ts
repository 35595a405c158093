import { FakeVendor } from '../support/fake-vendor.js';
import { ConnectorsService } from '../../src/connectors/connectors.service.js';
import { OktaServer } from '../support/vendors/okta-server.js';
import type { Reply } from '../support/vendors/vendor-server.js';
import { useStarted } from '../support/use-started.js';
import { VendorWorld } from '../support/vendors/vendor-world.js';

const USER = 'ada@example.com';
const CHIEF = 'ceo@example.com';

describe('okta', () => {
  const server = new OktaServer();
  const PROTECTED_TARGETS = JSON.stringify({ users: [CHIEF] });
  const world = useStarted(() => VendorWorld.start('okta', server, { PROTECTED_TARGETS }));

  beforeEach(() => server.forget());
  afterEach(() => expect(server.problems).toEqual([]));

  it('hides the token of the connector in responses, and tests the connector with the token', async () => {
    expect(world.connector.status).toBe(201);
    expect(world.connector.text).not.toContain(server.config.api_token);
    expect(await world.test()).toMatchObject({ success: true });
  });

  it('masks control characters and truncates long answers in the connection test, the regular check and the list', async () => {
    const login = `x\0\u202e\x1b${'y'.repeat(9_000)}`;
    const body = { id: '00u9', status: 'ACTIVE', profile: { login } };
    const own = /^GET \/api\/v1\/users\/me$/;
    const answers = (reply: Reply) => server.playAt(own, ...Array<Reply>(20).fill(reply));
    answers({ status: 200, body });
    const { success, message } = await world.test();
    expect([success, message.length]).toEqual([true, 1_000]);
    expect(message).toContain('x\ufffd⟦U+202E⟧⟦U+001B⟧y');
    await world.app.nest.get(ConnectorsService).checkAll();
    expect((await world.admin.get('/api/connectors/health')).text.length).toBeLessThan(2_000);
    server.forget();
    answers({ status: 200, body: { ...body, profile: { login: 'x'.repeat(900_000) } } });
    expect(await world.test()).toMatchObject({ success: false });
  });

  it('protects a protected user that an action names by id', async () => {
    const { id: user } = server.user(CHIEF);
    for (const type of ['revoke_sessions', 'reset_password', 'disable_user'] as const) {
      expect(await world.execute(type, { user })).toMatchObject({
        status: 'failed',
        result: {
          code: 'refused',
          message: `"${CHIEF}" is a protected target. Request the action with that name, so that a manager can approve it.`,
        },
      });
    }
    expect(server.lines.filter((line) => !line.startsWith('GET'))).toEqual([]);
    const { id, status, approval_level } = await world.execute('disable_user', { user: CHIEF });
    expect([status, approval_level]).toEqual(['completed', 'manager']);
    expect(await world.rollBack(id)).toMatchObject({ status: 'completed' });
    expect(server.users[0]).toMatchObject({ status: 'ACTIVE' });
  });

  it('rolls back an action only with the connector that executed it', async () => {
    const user = server.user(USER);
    const { id } = await world.execute('disable_user', { user: USER });
    const other = await FakeVendor.start();
    const path = { path: '/' };
    const config = { base_url: other.url, actions: { enable_user: path, disable_user: path } };
    const body = { name: 'another', type: 'http', priority: 1, config };
    const added = await world.admin.post('/api/connectors', body);
    const switchOkta = (enabled: boolean) =>
      world.admin.put(`/api/connectors/${world.connector.body.data.id}`, { enabled });
    try {
      await switchOkta(false);
      expect(await world.rollBack(id)).toMatchObject({
        status: 'failed',
        result: {
          code: 'no_connector',
          message: expect.stringContaining('is deleted, is disabled'),
        },
      });
      expect(user.status).toBe('SUSPENDED');
      await switchOkta(true);
      expect(await world.rollBack(id)).toMatchObject({ status: 'completed' });
      expect(user.status).toBe('ACTIVE');
      expect(other.requests).toEqual([]);
    } finally {
      await world.admin.delete(`/api/connectors/${added.body.data.id}`);
      await other.stop();
    }
  });
});
