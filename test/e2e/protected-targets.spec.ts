import { ActionWorld } from '../support/actions/action-world.js';
import { useStarted } from '../support/use-started.js';

describe('protected targets', () => {
  const world = useStarted(() =>
    ActionWorld.start({
      APPROVAL_LEVELS: JSON.stringify({
        ...{ isolate_host: 'none', block_ip: 'none', block_sender: 'none' },
        revoke_sessions: 'manager',
      }),
      PROTECTED_TARGETS: JSON.stringify({
        hosts: ['dc-01'],
        ips: ['10.0.0.0/8', '2001:db8::/32'],
        domains: ['mail.example.com'],
      }),
    }),
  );

  afterEach(() => world.vendor.forget());

  it.each([
    ['isolate_host', { host_id: 'DC-01..' }],
    ['isolate_host', { host_id: 'dc-0?' }],
    ['block_ip', { ip: '::ffff:10.1.2.3' }],
    ['block_sender', { sender: 'ceo@eu.mail.example.com' }],
  ] as const)('holds %s of %j until a manager approves', async (type, parameters) => {
    const { body } = await world.execute(type, { parameters });
    expect(body.data).toMatchObject({ status: 'pending_approval', approval_level: 'manager' });
    const path = `/api/actions/${body.data.action_id}/approve`;
    const senior = await world.clients.senior.post(path, {});
    expect(senior.body.error).toMatchObject({ required_level: 'manager' });
    expect(world.calls).toHaveLength(0);
  });

  it('applies the configured levels, and shows them in the list of action types', async () => {
    expect((await world.execute('revoke_sessions')).body.data.approval_level).toBe('manager');
    const { data } = (await world.clients.viewer.get('/api/actions/types')).body;
    const levelOf = (type: string) =>
      data.find(({ name }: { name: string }) => name === type).default_approval_level;
    expect(['revoke_sessions', 'isolate_host', 'unisolate_host'].map(levelOf)).toEqual([
      'manager',
      undefined,
      'senior',
    ]);
  });
});
