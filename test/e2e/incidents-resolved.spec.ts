import type { Answer, ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

type Shown = Record<string, string>;

describe('incidents that are resolved', () => {
  const app = useStarted(() => startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } }));
  const viewer = useStarted(() => as(app, 'viewer'));
  let alice: ApiClient;
  let aliceName: string;
  let bob: ApiClient;
  let bobName: string;

  beforeAll(async () => {
    ({ client: alice, name: aliceName } = await makeKey(app, 'analyst'));
    ({ client: bob, name: bobName } = await makeKey(app, 'analyst'));
  });

  const create = async (fields: object = {}): Promise<Shown> => {
    const body = { incident_type: 'bec', source: 'gateway', ...fields };
    return (await alice.post('/api/incidents', body)).body.data;
  };
  const put = (id: string, body: object, client = alice): Promise<Answer> =>
    client.put(`/api/incidents/${id}`, body);
  const read = async (id: string): Promise<Shown> =>
    (await viewer.get(`/api/incidents/${id}`)).body.data;
  const timeline = async (id: string) =>
    (await viewer.get(`/api/incidents/${id}/timeline`)).body.data;

  it('show resolved_at and resolved_by until they are reopened', async () => {
    const { id } = await create();
    const resolved = (await put(id!, { status: 'resolved', resolution: 'Blocked.' })).body.data;
    expect(resolved).toMatchObject({
      resolution: 'Blocked.',
      resolved_at: resolved.updated_at,
      resolved_by: aliceName,
    });
    expect(await read(id!)).toEqual(resolved);

    const kept = { resolution: 'Removed.', resolved_at: resolved.resolved_at };
    const said = await put(id!, { status: 'resolved', resolution: 'Removed.' });
    expect(said.body.data).toMatchObject({ ...kept, resolved_by: aliceName });

    const reopened = (await put(id!, { status: 'open', reopen: true }, bob)).body.data;
    for (const field of ['resolution', 'resolved_at', 'resolved_by']) {
      expect(reopened).not.toHaveProperty(field);
    }
    expect(await read(id!)).toEqual(reopened);
    expect((await timeline(id!)).slice(-3)).toMatchObject([
      { event: 'resolved', summary: 'Resolved: Blocked.', details: { resolution: 'Blocked.' } },
      {
        event: 'updated',
        summary: 'Changed resolution from "Blocked." to "Removed.".',
        details: { changes: [{ field: 'resolution', from: 'Blocked.', to: 'Removed.' }] },
      },
      {
        event: 'reopened',
        actor: bobName,
        summary: `Reopened, status open. It was resolved by ${aliceName} at ${resolved.resolved_at}: Removed.`,
        details: {
          changes: [
            { field: 'status', from: 'resolved', to: 'open' },
            { field: 'resolution', from: 'Removed.' },
            { field: 'resolved_by', from: aliceName },
          ],
        },
      },
    ]);

    const again = (await put(id!, { status: 'resolved' }, bob)).body.data;
    expect(again).not.toHaveProperty('resolution');
    expect(again.resolved_by).not.toBe(aliceName);
  });

  it('do not copy their resolution into the audit trail', async () => {
    const secret = 'Jane Doe of ward 7 was the target.';
    const { id } = await create({ title: `About ${secret}`, raw_data: { subject: secret } });
    const verdict = { classification: 'benign', reasoning: secret };
    await put(id!, { title: `Again ${secret}`, verdict, status: 'resolved', resolution: secret });
    const admin = await as(app, 'admin');
    await admin.delete(`/api/incidents/${id}`);
    const { body } = await admin.get(`/api/audit?subject=incident:${id}&sort=at`);
    expect(JSON.stringify(body)).not.toContain('Jane');
    const updated = body.data.find(({ action }: Shown) => action === 'incident.updated');
    expect(updated.details).toMatchObject({
      changed: ['title', 'status', 'verdict', 'resolution'],
      status: { from: 'open', to: 'resolved' },
      verdict: { classification: 'benign', decided_by: aliceName },
    });
  });

  it('are reopened only with reopen or If-Match; otherwise 409 names the user, time and resolution', async () => {
    const { id } = await create();
    const { body } = await put(id!, { status: 'resolved', resolution: 'Blocked.' });
    for (const status of ['open', 'triaged']) {
      const refused = await put(id!, { status, severity: 'low' }, bob);
      expect(refused.status).toBe(409);
      expect(refused.body.error).toMatchObject({
        code: 'already_resolved',
        details: {
          resolved_by: aliceName,
          resolved_at: body.data.resolved_at,
          resolution: 'Blocked.',
        },
      });
    }
    expect(await read(id!)).toEqual(body.data);
    const { headers } = await viewer.get(`/api/incidents/${id}`);
    const stale = await bob.put(`/api/incidents/${id}`, { status: 'open' }, { 'if-match': '"1"' });
    expect(stale.status).toBe(412);
    const known = await bob.put(
      `/api/incidents/${id}`,
      { status: 'open' },
      { 'if-match': String(headers['etag']) },
    );
    expect([known.status, known.body.data.status]).toEqual([200, 'open']);
  });

  it('have no resolution if the given text has no visible character', async () => {
    const blank = '\u202e\u200b\u2800';
    const { id } = await create();
    const resolved = await put(id!, { status: 'resolved', resolution: blank });
    expect([resolved.status, resolved.body.data.status]).toEqual([200, 'resolved']);
    expect(resolved.body.data).not.toHaveProperty('resolution');
    expect((await timeline(id!)).at(-1).summary).toBe('Resolved.');

    await put(id!, { resolution: 'Blocked.' });
    expect((await timeline(id!)).at(-1).summary).toBe('Changed resolution to "Blocked.".');
    expect((await put(id!, { resolution: blank })).body.data).not.toHaveProperty('resolution');
    expect((await timeline(id!)).at(-1)).toMatchObject({
      summary: 'Changed resolution from "Blocked." to nothing.',
      details: { changes: [{ field: 'resolution', from: 'Blocked.' }] },
    });
    const reopened = await put(id!, { status: 'open', reopen: true, resolution: blank });
    expect(reopened.body.data).not.toHaveProperty('resolution');
  });

  it('show text of attackers unchanged in details, and without invisible characters in summaries', async () => {
    const { id } = await create({ source: 'gate\u202eway\u2028' });
    const resolution = '<b>"\u202eDone\u0007\n{"a":1}';
    await put(id!, { status: 'resolved', resolution });
    const [created, resolved] = await timeline(id!);
    expect(created.summary).toBe('Created from gateway .');
    expect(resolved.details).toEqual({ resolution });
    expect(resolved.summary).toBe('Resolved: <b>"Done {"a":1}');
  });

  describe('GET /api/incidents', () => {
    it('shows classification, resolved_at and resolved_by in lists while they apply', async () => {
      const { id } = await create({ source: 'shown-in-lists' });
      const line = async (): Promise<Shown> =>
        (await viewer.get('/api/incidents?source=shown-in-lists')).body.data[0];
      const optional = ['classification', 'resolved_at', 'resolved_by'];
      const untold = await line();
      for (const field of optional) expect(untold).not.toHaveProperty(field);
      await put(id!, { status: 'resolved', verdict: { classification: 'benign' } });
      const { resolved_at, resolved_by } = await read(id!);
      expect(resolved_by).toBe(aliceName);
      expect(await line()).toMatchObject({ classification: 'benign', resolved_at, resolved_by });
      await put(id!, { status: 'open', reopen: true, verdict: { classification: 'suspicious' } });
      expect(await line()).toMatchObject({ status: 'open', classification: 'suspicious' });
      for (const field of ['resolved_at', 'resolved_by']) {
        expect(await line()).not.toHaveProperty(field);
      }
    });
  });
});
