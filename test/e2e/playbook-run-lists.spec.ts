import { PlaybookRunCounts } from '../../src/playbooks/runs/listing/run-list.repository.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';

describe('the list of the runs of all playbooks', () => {
  let world: PlaybookWorld;
  let incident: string;
  /** Of two playbooks, the second of which is deleted, oldest first. */
  let completed: ShownRun;
  let waiting: ShownRun;
  let failed: ShownRun;
  let cancelled: ShownRun;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
    incident = await world.incident();
    const one = await world.playbook(
      [step('isolate', 'isolate_host', { condition: 'variables.go' })],
      {
        variables: { go: true },
      },
    );
    const other = await world.playbook([
      step('broken', 'lookup_ip', { parameters: { ip: '{{ incident.title }}' } }),
    ]);
    const run = async (playbook: string, body: object) =>
      (await world.run(playbook, body)).body.data as ShownRun;
    completed = await run(one, { variables: { go: false } });
    waiting = await run(one, { incident_id: incident });
    failed = await run(other, {});
    cancelled = await run(one, { incident_id: incident });
    await world.cancel(one, cancelled.run_id);
    await world.clients.manager.request('DELETE', `/api/playbooks/${other}`);
  });
  afterAll(() => world?.close());

  const asked = async (query: string): Promise<[string[], number]> => {
    const { status, body } = await world.clients.viewer.request(
      'GET',
      `/api/playbook-runs${query}`,
    );
    expect(status).toBe(200);
    return [body.data.map(({ run_id }: ShownRun) => run_id), body.meta.total];
  };
  const ids = (...runs: ShownRun[]): [string[], number] => [
    runs.map(({ run_id }) => run_id),
    runs.length,
  ];

  it('has those of deleted ones, too, newest first or oldest first', async () => {
    expect(await asked('')).toEqual(ids(cancelled, failed, waiting, completed));
    expect(await asked('?sort=created_at')).toEqual(ids(completed, waiting, failed, cancelled));
  });

  it('is of the statuses, the playbook and the incident that were asked for', async () => {
    expect(await asked('?status=failed,waiting_approval')).toEqual(ids(failed, waiting));
    expect(await asked(`?playbook_id=${failed.playbook_id}`)).toEqual(ids(failed));
    expect(await asked(`?playbook_id=${completed.playbook_id}&status=completed,failed`)).toEqual(
      ids(completed),
    );
    expect(await asked(`?incident_id=${incident}`)).toEqual(ids(cancelled, waiting));
    expect(await asked(`?incident_id=${incident}&status=cancelled`)).toEqual(ids(cancelled));
  });

  it('is of the time that was asked for, with both ends', async () => {
    const { started_at: from } = waiting;
    const { started_at: to } = failed;
    expect(await asked(`?from=${from}&to=${to}`)).toEqual(ids(failed, waiting));
    expect(await asked(`?from=${to}&status=failed`)).toEqual(ids(failed));
    expect(await asked('?to=2020-01-01T00:00:00Z')).toEqual([[], 0]);
    expect(
      (await world.list(completed.playbook_id, `?from=${from}&to=${to}`)).body.meta.total,
    ).toBe(1);
  });

  it('has its exact number on each page, and past the last', async () => {
    const [first, total] = await asked('?per_page=3');
    const [rest] = await asked('?per_page=3&page=2');
    expect([...first, ...rest]).toEqual(ids(cancelled, failed, waiting, completed)[0]);
    expect(total).toBe(4);
    expect(await asked('?page=9')).toEqual([[], 4]);
  });

  it('has the same number before and after the counts are added up', async () => {
    const all = ['', '?status=cancelled', `?playbook_id=${completed.playbook_id}`];
    const before = await Promise.all(all.map(asked));
    await world.actions.app.nest.get(PlaybookRunCounts).foldPending();
    const left = await world.actions.database.query('select from playbook_run_count_deltas');
    expect(left).toEqual([]);
    expect(await Promise.all(all.map(asked))).toEqual(before);
  });

  it.each(['status=done', 'playbook_id=x', 'incident_id=x', 'from=yesterday', 'playbook=x'])(
    'refuses %s with 422',
    async (query) => {
      const { status } = await world.clients.viewer.request('GET', `/api/playbook-runs?${query}`);
      expect(status).toBe(422);
    },
  );

  it('leads from an action to its run, also where the playbook is deleted', async () => {
    const get = (id: string) => world.clients.viewer.request('GET', `/api/playbook-runs/${id}`);
    const { playbook_run_id } = (await world.actions.get(waiting.steps[0]!.action_id!)) as {
      playbook_run_id?: string;
    };
    const { body } = await get(playbook_run_id!);
    expect(body.data).toMatchObject({ run_id: waiting.run_id, playbook_id: waiting.playbook_id });
    expect((await get(failed.run_id)).body.data).toMatchObject({
      playbook_id: failed.playbook_id,
      status: 'failed',
      steps_failed: 1,
    });
    expect(await world.get(failed.playbook_id, failed.run_id)).toEqual(
      (await get(failed.run_id)).body.data,
    );
    const nobody = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    expect([(await get(nobody)).status, (await get('x')).status]).toEqual([404, 404]);
  });
});
