import { PARAMETERS } from '../support/actions/action-world.js';
import type { ApiClient } from '../support/api-client.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => PlaybookWorld.start({ TRIAGE_PROVIDER: 'rules' }));

interface Shown {
  readonly id: string;
  readonly incident_number: string;
}

describe('the number of an incident', () => {
  const create = async (): Promise<Shown> => {
    const id = await world.incident();
    return (await world.clients.viewer.get(`/api/incidents/${id}`)).body.data as Shown;
  };
  const ask = (method: string, path: string, body?: object) =>
    world.clients.admin.request(method, path, { body });

  it('is accepted in paths instead of the id', async () => {
    const { id, incident_number: number } = await create();
    const at = `/api/incidents/${number}`;
    const put = await ask('PUT', at, { severity: 'high' });
    expect([put.status, put.body.data.id]).toEqual([200, id]);
    const action = await ask('POST', `${at}/actions`, {
      action: 'lookup_ip',
      parameters: { ip: '203.0.113.9' },
    });
    expect(action.status).toBe(200);
    const triage = await ask('POST', `${at}/triage`, {});
    expect(triage.body.data).toMatchObject({ incident_id: id });
    for (const part of ['', '/timeline', '/reports', '/actions', '/triage']) {
      const [byNumber, byId] = [
        await ask('GET', at + part),
        await ask('GET', `/api/incidents/${id}${part}`),
      ];
      expect([part, byNumber.status, byNumber.body]).toEqual([part, 200, byId.body]);
    }
    const run = await ask('GET', `${at}/triage/${triage.body.data.triage_id}`);
    expect(run.body.data).toMatchObject({ incident_id: id });
    expect((await ask('DELETE', at)).status).toBe(200);
    expect((await ask('GET', at)).status).toBe(404);
    expect((await ask('GET', `/api/incidents/${id}`)).status).toBe(404);
  });

  it('is accepted by filters and playbook runs', async () => {
    const { id, incident_number: number } = await create();
    const playbook = await world.playbook([step('look', 'lookup_ip')]);
    const dry = await world.run(playbook, { incident_id: number, dry_run: true });
    expect(dry.body.data).toMatchObject({ incident_id: id });
    const { run_id } = (await world.run(playbook, { incident_id: number })).body.data;
    await world.until(playbook, run_id, 'completed');
    for (const list of ['actions', 'playbook-runs', `playbooks/${playbook}/runs`]) {
      const { body } = await ask('GET', `/api/${list}?incident_id=${number}`);
      expect(body.meta.total).toBe(1);
      expect(body.data[0]).toMatchObject({ incident_id: id });
    }
  });

  it('is not found if it is not an integer or unknown', async () => {
    const { incident_number: number } = await create();
    const [, year, sequence] = number.split('-') as [string, string, string];
    const wrong = [
      `INC-${Number(year) - 1}-${sequence}`,
      `INC-${year}-0${sequence}`,
      `INC-${year}-9999999`,
      number.toLowerCase(),
    ];
    for (const reference of wrong) {
      const { status } = await ask('GET', `/api/incidents/${reference}`);
      expect([reference, status]).toEqual([reference, 404]);
    }
    for (const reference of wrong.slice(0, -1)) {
      expect((await ask('GET', `/api/actions?incident_id=${reference}`)).body.meta.total).toBe(0);
      const run = await world.run(await world.playbook([step('look', 'lookup_ip')]), {
        incident_id: reference,
      });
      expect(run.status).toBe(404);
    }
    expect((await ask('GET', '/api/actions?incident_id=42')).status).toBe(422);
  });
});

describe('closing an incident', () => {
  let playbook: string;
  let incident: string;
  let run: string;

  beforeAll(async () => {
    const isolate = step('isolate', 'isolate_host', {
      parameters: { host_id: 'laptop-9' },
      approval_level: 'manager',
    });
    playbook = await world.playbook([isolate]);
  });

  beforeEach(async () => {
    incident = await world.incident();
    const asked = await request('POST', `/api/incidents/${incident}/actions`, {
      action: 'isolate_host',
      parameters: PARAMETERS.isolate_host,
    });
    expect(asked.body.data.status).toBe('pending_approval');
    run = (await world.run(playbook, { incident_id: incident })).body.data.run_id;
    await world.until(playbook, run, 'waiting_approval');
  });

  const request = (method: string, path: string, body?: object) =>
    world.clients.analyst.request(method, path, { body });
  const put = (body: object) => request('PUT', `/api/incidents/${incident}`, body);
  const actions = async () =>
    (await request('GET', `/api/actions?incident_id=${incident}`)).body.data;

  it('does not withdraw waiting actions by default, and reports their number', async () => {
    const { body } = await put({ status: 'resolved' });
    expect(body.data).toMatchObject({ status: 'resolved', pending_actions: 2 });
    expect(body.data).not.toHaveProperty('withdrawn');
    for (const { status } of await actions()) expect(status).toBe('pending_approval');
    expect((await world.get(playbook, run)).status).toBe('waiting_approval');
    expect((await put({ title: 'Another one' })).body.data).not.toHaveProperty('pending_actions');
  });

  it('lets an analyst withdraw actions that need a manager', async () => {
    const levels = (await actions()).map(
      (action: { approval_level: string }) => action.approval_level,
    );
    expect(levels).toContain('manager');
    const { status, body } = await put({ status: 'resolved', pending: 'withdraw' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ withdrawn: { actions: 2, runs: 1 } });
    expect(body.data).not.toHaveProperty('pending_actions');
    const { resolved_by: closer, incident_number: number } = body.data;
    for (const action of await actions()) {
      expect(action).toMatchObject({ status: 'rejected', rejected_by: closer });
      expect(action.rejection_reason).toBe(`${closer} closed ${number}.`);
    }
    const { status: ended, error } = await world.get(playbook, run);
    expect([ended, error]).toEqual(['cancelled', `${closer} closed ${number}.`]);
    const timeline = await request('GET', `/api/incidents/${incident}/timeline`);
    const events = timeline.body.data.map(({ event }: { event: string }) => event);
    expect(events.filter((event: string) => event === 'action_rejected')).toHaveLength(2);
    expect(events).toContain('playbook_cancelled');
  });

  it('is required in the same request to withdraw actions', async () => {
    const refused = await put({ pending: 'withdraw', severity: 'low' });
    expect(refused.status).toBe(422);
    expect(refused.body.error.details.errors).toMatchObject([{ field: 'status' }]);
  });
});

describe('the timeline of an incident', () => {
  interface Entry {
    readonly event: string;
    readonly summary: string;
    readonly details?: Readonly<Record<string, unknown>>;
  }
  afterEach(() => world.actions.vendor.forget());

  const timeline = async (incidentId: string): Promise<Entry[]> => {
    const path = `/api/incidents/${incidentId}/timeline?per_page=100`;
    return (await world.clients.viewer.get(path)).body.data;
  };
  const last = async (incidentId: string): Promise<Entry> => (await timeline(incidentId)).at(-1)!;
  const post = (client: ApiClient, id: string, what: string, body: object) =>
    client.post(`/api/actions/${id}/${what}`, body);
  const isolation = async (incidentId: string, reason?: string): Promise<string> => {
    const parameters = { host_id: 'ws-042', reason };
    const answer = await world.actions.execute('isolate_host', { incidentId, parameters });
    return answer.body.data.action_id;
  };

  it('shows target, parameters and reason of a request', async () => {
    const incidentId = await world.incident();
    await isolation(incidentId, 'It beacons.');
    expect(await last(incidentId)).toMatchObject({
      event: 'action_requested',
      summary:
        'Requested isolate_host "ws-042", which waits for approval at level senior. Reason: It beacons.',
    });
    expect((await last(incidentId)).details).toEqual({
      action_type: 'isolate_host',
      target: 'ws-042',
      parameters: { host_id: 'ws-042', reason: 'It beacons.' },
      reason: 'It beacons.',
    });
  });

  it('shows the comment of an approval, and the target of the executed action', async () => {
    const incidentId = await world.incident();
    const id = await isolation(incidentId);
    await post(world.clients.senior, id, 'approve', { comment: 'Its user knows.' });
    const [approved, completed] = (await timeline(incidentId)).slice(-2);
    const about = { action_type: 'isolate_host', target: 'ws-042' };
    expect(approved).toMatchObject({
      event: 'action_approved',
      summary: 'Approved isolate_host "ws-042". Comment: Its user knows.',
    });
    expect(approved!.details).toEqual({ ...about, comment: 'Its user knows.' });
    expect(completed!.summary).toMatch(/^Completed isolate_host "ws-042": /);
    expect(completed!.details).toEqual(about);
  });

  it('shows the reason of a rollback and the original action', async () => {
    const incidentId = await world.incident();
    const { body } = await world.actions.execute('block_sender', { incidentId });
    const original: string = body.data.action_id;
    await post(world.clients.analyst, original, 'rollback', { reason: 'A false alarm.' });
    const [requested, completed] = (await timeline(incidentId)).slice(-2);
    expect(requested).toMatchObject({
      summary: `Requested unblock_sender "evil@example.net" to roll back ${original}. Reason: A false alarm.`,
      details: { rollback_of: original, reason: 'A false alarm.' },
    });
    expect(completed!.details).toMatchObject({ rollback_of: original });
  });

  it('truncates long texts, keeps them complete in the details, and quotes targets', async () => {
    const incidentId = await world.incident();
    const forged = `<a" which was approved. Comment: fine ${'m'.repeat(600)}@example.net>`;
    const parameters = { message_id: forged };
    const asked = await world.actions.execute('quarantine_email', { incidentId, parameters });
    expect(asked.status).toBe(200);
    const requested = (await timeline(incidentId)).at(-2)!;
    expect(requested.summary).toMatch(
      /^Requested quarantine_email "<a\\" which was .{60,120}…"\.$/,
    );
    expect(requested.details).toMatchObject({ parameters, target: forged.slice(0, 500) });
    const comment = 'c'.repeat(2_000);
    await post(world.clients.senior, await isolation(incidentId), 'approve', { comment });
    const approved = (await timeline(incidentId)).at(-2)!;
    expect(approved.details).toMatchObject({ comment });
    expect(approved.summary).toHaveLength(
      'Approved isolate_host "ws-042". Comment: '.length + 1_000,
    );
  });
});
