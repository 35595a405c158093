import { randomUUID } from 'node:crypto';
import { ActionsRepository } from '../../src/actions/records/actions.repository.js';
import { Statements } from '../../src/platform/database/statements.js';
import { ActionWorld } from '../support/actions/action-world.js';
import type { Answer } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';

const AT_ONCE = 40;
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);
const times = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => make(index)));
const isEven = (index: number): boolean => index % 2 === 0;

describe('actions that are asked for at the same moment', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start({ APPROVAL_RAISE_ON_CRITICAL: 'true' });
  });
  afterEach(() => {
    world.vendor.forget();
    jest.restoreAllMocks();
  });
  afterAll(() => world?.close());

  const countOf = async (where: string): Promise<number> => {
    const [row] = await world.database.query<{ n: number }[]>(
      `select count(*)::integer as n from actions where ${where}`,
    );
    return row!.n;
  };
  const incidents = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => world.incident()));

  it('share transactions, and each has its effect, its records and its own answer', async () => {
    const enter = jest.spyOn(world.app.nest.get(ActionsRepository), 'enter');
    const statements = jest.spyOn(world.app.nest.get(Statements), 'rows');
    const ids = await incidents(4);
    const answers = await times((index) =>
      world.execute('block_sender', {
        incidentId: index % 5 === 4 ? undefined : ids[index % 5],
        parameters: { sender: `sender-${index}@example.net` },
      }),
    );
    expect(statusesOf(answers)).toEqual(answers.map(() => 200));
    const ends = statements.mock.calls.filter(([{ name }]) => name === 'actions_end');
    for (const calls of [enter.mock.calls, ends]) {
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.length).toBeLessThan(AT_ONCE);
    }
    for (const [index, { body }] of answers.entries()) {
      const { action_id: id, status } = body.data;
      expect(status).toBe('completed');
      expect(world.vendor.effectsOf(id)).toBe(1);
      expect(await world.get(id)).toMatchObject({
        parameters: { sender: `sender-${index}@example.net` },
        ...(index % 5 < 4 && { incident_id: ids[index % 5] }),
      });
    }
    const audit = await world.database.query<{ action: string; n: number }[]>(
      `select action, count(*)::integer as n from audit_log where subject_id = any($1) group by action order by action`,
      [answers.map(({ body }) => body.data.action_id)],
    );
    expect(audit).toEqual([
      { action: 'action.completed', n: AT_ONCE },
      { action: 'action.requested', n: AT_ONCE },
    ]);
    const { body: timeline } = await world.clients.viewer.request(
      'GET',
      `/api/incidents/${ids[0]}/timeline?per_page=50`,
    );
    const events = (timeline.data as { event: string }[]).map(({ event }) => event);
    expect(events.filter((event) => event === 'action_requested')).toHaveLength(AT_ONCE / 5);
    expect(events.filter((event) => event === 'action_completed')).toHaveLength(AT_ONCE / 5);
  });

  it('are refused alone when their key was revoked, or their incident is not there', async () => {
    const doomed = await makeKey(world.app, 'analyst');
    expect((await world.execute('lookup_ip', { client: doomed.client })).status).toBe(200);
    await world.database.query('update api_keys set revoked_at = now() where id = $1', [doomed.id]);
    const [there, gone] = await incidents(2);
    await world.clients.admin.request('DELETE', `/api/incidents/${gone}`);
    const others = [there, gone, randomUUID(), 'no-id', there!.toUpperCase()];
    const before = await countOf('true');
    const answers = await times((index) =>
      index % 6 === 5
        ? world.execute('block_sender', { client: doomed.client })
        : world.execute('block_sender', { incidentId: others[index % 6] }),
    );
    const wanted = [200, 404, 404, 404, 200, 401];
    expect(statusesOf(answers)).toEqual(answers.map((_, index) => wanted[index % 6]));
    const good = answers.filter(({ status }) => status === 200).length;
    expect(await countOf('true')).toBe(before + good);
    expect(await countOf(`incident_id = '${gone}'`)).toBe(0);
  });

  it('wait alone when somebody is changing their incident, and see what was changed', async () => {
    const [changed, other] = await incidents(2);
    const runner = world.database.createQueryRunner();
    await runner.startTransaction();
    const update = `update incidents set severity = 'critical' where id = $1`;
    await runner.query(update, [changed]);
    let waiting = 0;
    const held: Promise<Answer>[] = [];
    const others = await times((index) => {
      const release = (incidentId?: string) => world.execute('release_email', { incidentId });
      if (index % 10 > 0) return release(other);
      waiting += 1;
      held.push(release(changed).finally(() => (waiting -= 1)));
      return release();
    });
    const levels = (answers: readonly Answer[]) =>
      answers.map(({ body }) => body.data.approval_level);
    expect(levels(others)).toEqual(others.map(() => 'analyst'));
    expect(waiting).toBe(AT_ONCE / 10);
    await runner.commitTransaction();
    await runner.release();
    expect(levels(await Promise.all(held))).toEqual(held.map(() => 'senior'));
  });

  it('run, wait for approval or fail for want of a connector, each as it would alone', async () => {
    const types = ['block_sender', 'isolate_host', 'create_ticket', 'lookup_ip'] as const;
    const answers = await times((index) => {
      const type = types[index % 4]!;
      const parameters = type === 'create_ticket' ? { title: 'So.' } : undefined;
      return world.execute(type, { ...(parameters && { parameters }) });
    });
    const ends = ['completed', 'pending_approval', 'failed', 'completed'];
    expect(answers.map(({ body }) => body.data.status)).toEqual(
      answers.map((_, index) => ends[index % 4]),
    );
    expect(answers[2]!.body.data.result.code).toBe('no_connector');
  });

  it('are all refused while the kill switch is on, unless their incident is not there', async () => {
    const incidentId = await world.incident();
    await world.turnOn();
    const before = await countOf('true');
    const answers = await times((index) =>
      world.execute('block_sender', { incidentId: isEven(index) ? incidentId : randomUUID() }),
    );
    await world.turnOff();
    expect(answers.map(({ body }) => body.error.code)).toEqual(
      answers.map((_, index) => (isEven(index) ? 'kill_switch_active' : 'not_found')),
    );
    expect(await countOf('true')).toBe(before);
  });

  it.each([
    ['at their request', `parameters::text not like '%poison%'`, 500],
    ['at their end', `parameters::text not like '%poison%' or status <> 'completed'`, 202],
  ])('fail alone when the database refuses one of them %s', async (_, condition, status) => {
    await world.database.query(
      `alter table actions add constraint ck_test check (${condition}) not valid`,
    );
    const answers = await times((index) =>
      world.execute('block_sender', {
        parameters: { sender: `${index % 8 === 3 ? 'poison' : 'mail'}@example.net` },
      }),
    );
    await world.database.query('alter table actions drop constraint ck_test');
    expect(statusesOf(answers)).toEqual(
      answers.map((__, index) => (index % 8 === 3 ? status : 200)),
    );
    expect(new Set(answers.flatMap(({ body }) => body.data?.action_id ?? [])).size).toBe(
      answers.filter((answer) => answer.status < 500).length,
    );
  });
});
