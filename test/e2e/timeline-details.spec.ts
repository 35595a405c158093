import { DataSource } from 'typeorm';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import type { ApiClient } from '../support/api-client.js';

interface Entry {
  readonly event: string;
  readonly summary: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

describe('the timeline of an incident', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start();
  });
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  const timeline = async (incidentId: string): Promise<Entry[]> => {
    const path = `/api/incidents/${incidentId}/timeline?per_page=100`;
    return (await world.clients.viewer.request('GET', path)).body.data;
  };
  const last = async (incidentId: string): Promise<Entry> => (await timeline(incidentId)).at(-1)!;
  const post = (client: ApiClient, id: string, what: string, body: object) =>
    client.request('POST', `/api/actions/${id}/${what}`, { body });
  const isolation = async (incidentId: string, reason?: string): Promise<string> => {
    const parameters = { host_id: 'ws-042', reason };
    const answer = await world.execute('isolate_host', { incidentId, parameters });
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

  it('omits a missing comment', async () => {
    const incidentId = await world.incident();
    await post(world.clients.senior, await isolation(incidentId), 'approve', {});
    expect((await timeline(incidentId)).at(-2)!.summary).toBe('Approved isolate_host "ws-042".');
  });

  it('shows the reason of a rejection', async () => {
    const incidentId = await world.incident();
    await post(world.clients.senior, await isolation(incidentId), 'reject', { reason: 'No need.' });
    expect(await last(incidentId)).toMatchObject({
      event: 'action_rejected',
      summary: 'Rejected isolate_host "ws-042": No need.',
      details: { target: 'ws-042', reason: 'No need.' },
    });
  });

  it('shows the reason of a rollback and the original action', async () => {
    const incidentId = await world.incident();
    const { body } = await world.execute('block_sender', { incidentId });
    const original: string = body.data.action_id;
    await post(world.clients.analyst, original, 'rollback', { reason: 'A false alarm.' });
    const [requested, completed] = (await timeline(incidentId)).slice(-2);
    expect(requested).toMatchObject({
      summary: `Requested unblock_sender "evil@example.net" to roll back ${original}. Reason: A false alarm.`,
      details: { rollback_of: original, reason: 'A false alarm.' },
    });
    expect(completed!.details).toMatchObject({ rollback_of: original });
  });

  it('truncates long texts, which are complete in the details, and quotes targets', async () => {
    const incidentId = await world.incident();
    const forged = `<a" which was approved. Comment: fine ${'m'.repeat(600)}@example.net>`;
    const parameters = { message_id: forged };
    const asked = await world.execute('quarantine_email', { incidentId, parameters });
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

  it('shows entries of an older release unchanged', async () => {
    const incidentId = await world.incident();
    await world.app.nest.get(DataSource).query(
      `insert into incident_timeline (id, incident_id, at, event, actor, summary)
       values ($1, $2, now(), 'action_requested', 'alice', 'Requested isolate_host.')`,
      [newId(), incidentId],
    );
    expect(await last(incidentId)).toEqual({
      at: expect.any(String),
      event: 'action_requested',
      actor: 'alice',
      summary: 'Requested isolate_host.',
    });
  });
});
