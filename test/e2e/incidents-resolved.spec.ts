import { createHash } from 'node:crypto';
import type { Answer, ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

type Shown = Record<string, string>;

describe('incidents that are resolved', () => {
  let app: TestApp;
  let viewer: ApiClient;
  let alice: ApiClient;
  let aliceName: string;
  let bob: ApiClient;
  let bobName: string;

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } });
    viewer = await as(app, 'viewer');
    ({ client: alice, name: aliceName } = await makeKey(app, 'analyst'));
    ({ client: bob, name: bobName } = await makeKey(app, 'analyst'));
  });
  afterAll(() => app?.close());

  const create = async (fields: object = {}): Promise<Shown> => {
    const body = { incident_type: 'bec', source: 'gateway', ...fields };
    return (await alice.request('POST', '/api/incidents', { body })).body.data;
  };
  const put = (id: string, body: object, client = alice): Promise<Answer> =>
    client.request('PUT', `/api/incidents/${id}`, { body });
  const read = async (id: string): Promise<Shown> =>
    (await viewer.request('GET', `/api/incidents/${id}`)).body.data;
  const timeline = async (id: string) =>
    (await viewer.request('GET', `/api/incidents/${id}/timeline`)).body.data;

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

  it.each([
    ['with the status resolved', { status: 'resolved', resolution: 'False alarm.' }],
    ['alone', { resolution: 'False alarm.' }],
  ])(
    'name the colleague who changes the resolution %s, and keep the earlier one in the timeline',
    async (_, body) => {
      const { id } = await create();
      const first = (await put(id!, { status: 'resolved', resolution: 'Blocked.' })).body.data;
      const second = (await put(id!, body, bob)).body.data;
      expect(second).toMatchObject({ resolution: 'False alarm.', resolved_by: bobName });
      expect(second.resolved_at).toBe(second.updated_at);
      expect((await timeline(id!)).at(-1)).toMatchObject({
        event: 'resolved',
        actor: bobName,
        summary: `Replaced the resolution with "False alarm.". It was resolved by ${aliceName} at ${first.resolved_at}: Blocked.`,
        details: {
          resolution: 'False alarm.',
          changes: [
            { field: 'resolution', from: 'Blocked.', to: 'False alarm.' },
            { field: 'resolved_by', from: aliceName, to: bobName },
          ],
        },
      });
    },
  );

  it.each([{ status: 'resolved' }, { resolution: 'Blocked.' }, { severity: 'low' }])(
    'stay resolved by the first user if a colleague sends %j',
    async (body) => {
      const { id } = await create();
      const first = (await put(id!, { status: 'resolved', resolution: 'Blocked.' })).body.data;
      const { resolution, resolved_by, resolved_at } = first;
      const after = (await put(id!, body, bob)).body.data;
      expect(after).toMatchObject({ resolution, resolved_by, resolved_at });
    },
  );

  it('have only digests and lengths of their texts in the audit trail', async () => {
    const secret = 'Jane Doe of ward 7 was the target.';
    const { id } = await create({ title: `About ${secret}`, raw_data: { subject: secret } });
    const verdict = { classification: 'benign', reasoning: secret };
    await put(id!, { title: `Again ${secret}`, verdict, status: 'resolved', resolution: secret });
    const admin = await as(app, 'admin');
    await admin.request('DELETE', `/api/incidents/${id}`);
    const { body } = await admin.request('GET', `/api/audit?subject=incident:${id}&sort=at`);
    expect(JSON.stringify(body)).not.toContain('Jane');
    const updated = body.data.find(({ action }: Shown) => action === 'incident.updated');
    const sha256 = createHash('sha256').update(secret).digest('hex');
    const digest = { sha256, length: secret.length };
    expect(updated.details).toMatchObject({
      changed: ['title', 'status', 'verdict', 'resolution'],
      resolution: { to: digest },
      verdict: { classification: 'benign', decided_by: aliceName, reasoning: digest },
    });
  });

  it('lose their resolution by a verdict with the status open, which the timeline keeps', async () => {
    const { id } = await create();
    await put(id!, { status: 'resolved', resolution: 'Done.' });
    const body = { status: 'open', reopen: true, verdict: { classification: 'benign' } };
    expect((await put(id!, body)).body.data).not.toHaveProperty('resolution');
    const [reopened, triaged] = (await timeline(id!)).slice(-2);
    expect(reopened.summary).toMatch(/^Reopened, status open\. It was resolved by .*: Done\.$/);
    expect(triaged.event).toBe('triaged');
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
    const { headers } = await viewer.request('GET', `/api/incidents/${id}`);
    const stale = await bob.request('PUT', `/api/incidents/${id}`, {
      body: { status: 'open' },
      headers: { 'if-match': '"1"' },
    });
    expect(stale.status).toBe(412);
    const known = await bob.request('PUT', `/api/incidents/${id}`, {
      body: { status: 'open' },
      headers: { 'if-match': String(headers['etag']) },
    });
    expect([known.status, known.body.data.status]).toEqual([200, 'open']);
  });

  it('return to the earlier status with reopen alone, and keep the author of the verdict', async () => {
    const { id } = await create();
    await put(id!, { status: 'resolved' });
    expect((await put(id!, { reopen: true }, bob)).body.data.status).toBe('open');
    const run = await alice.request('POST', `/api/incidents/${id}/triage`, { body: {} });
    expect(run.status).toBe(200);
    await put(id!, { status: 'resolved' });
    const reopened = (await put(id!, { reopen: true, status: 'triaged' }, bob)).body.data;
    expect(reopened).toMatchObject({ status: 'triaged', verdict: { decided_by: 'system' } });
    expect((await timeline(id!)).at(-1)).toMatchObject({ event: 'reopened' });
    await put(id!, { status: 'resolved' });
    expect((await put(id!, { reopen: true }, bob)).body.data.status).toBe('triaged');
  });

  it('keep the evidence of the run beside a verdict of a person without evidence', async () => {
    const raw_data = { sender: 'ceo@examp1e.com', subject: 'Urgent wire transfer' };
    const { id } = await create({ raw_data });
    await alice.request('POST', `/api/incidents/${id}/triage`, { body: {} });
    const { verdict: found } = (await viewer.request('GET', `/api/incidents/${id}`)).body.data;
    expect(found.evidence.length).toBeGreaterThan(0);
    const given = { classification: 'benign', reasoning: 'He is known to write so.' };
    const { verdict } = (await put(id!, { verdict: given })).body.data;
    const { classification, confidence, category, reasoning, triage_id } = found;
    expect(verdict).toEqual({
      ...given,
      evidence: found.evidence,
      indicators: found.indicators,
      mitre_techniques: found.mitre_techniques,
      decided_by: aliceName,
      proposed: { classification, confidence, category, reasoning, triage_id },
    });
  });

  it('stay resolved when many requests set the status open at the same time', async () => {
    const { id } = await create();
    await put(id!, { status: 'resolved', resolution: 'Done.' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => put(id!, { status: 'open' }, bob)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]));
    expect((await read(id!))['status']).toBe('resolved');
  });

  it.each(['', ' ', '\n\t\u3000', '\u202e\u200b\u2800'])(
    'have no resolution if it is blank, %j',
    async (blank) => {
      const { id } = await create();
      const resolved = await put(id!, { status: 'resolved', resolution: blank });
      expect([resolved.status, resolved.body.data.status]).toEqual([200, 'resolved']);
      expect(resolved.body.data).not.toHaveProperty('resolution');
      expect((await timeline(id!)).at(-1).summary).toBe('Resolved.');

      await put(id!, { resolution: 'Blocked.' });
      expect((await timeline(id!)).at(-1).summary).toBe('Changed resolution to "Blocked.".');
      expect((await put(id!, { resolution: blank })).body.data).not.toHaveProperty('resolution');
      expect((await timeline(id!)).at(-1)).toMatchObject({
        summary: 'Removed the resolution: Blocked.',
        details: { changes: [{ field: 'resolution', from: 'Blocked.' }] },
      });
      const reopened = await put(id!, { status: 'open', reopen: true, resolution: blank });
      expect(reopened.body.data).not.toHaveProperty('resolution');
    },
  );

  it('show both resolutions if a reopening gives a new one', async () => {
    const { id } = await create();
    await put(id!, { status: 'resolved', resolution: 'Done.' });
    const body = { status: 'triaged', reopen: true, resolution: 'It came "again".' };
    const reopened = await put(id!, body);
    expect(reopened.body.data.resolution).toBe('It came "again".');
    expect((await timeline(id!)).at(-1)).toMatchObject({
      event: 'reopened',
      summary: expect.stringMatching(
        /^Reopened, status triaged\. New resolution: "It came \\"again\\"\."\. It was resolved by .*: Done\.$/,
      ),
    });
  });

  it('keep their resolution and status after a forced triage', async () => {
    const { id } = await create();
    await put(id!, { status: 'resolved', resolution: 'Done.' });
    await alice.request('POST', `/api/incidents/${id}/triage`, { body: { force: true } });
    expect(await read(id!)).toMatchObject({
      ...{ status: 'resolved', resolution: 'Done.', resolved_by: aliceName },
      verdict: { decided_by: 'system' },
    });
  });

  it('show the words of attackers unchanged in details, and without invisible characters in summaries', async () => {
    const { id } = await create({ source: 'gate\u202eway\u2028' });
    const resolution = '<b>"\u202eDone\u0007\n{"a":1}';
    await put(id!, { status: 'resolved', resolution });
    const [created, resolved] = await timeline(id!);
    expect(created.summary).toBe('Created from gateway .');
    expect(resolved.details).toEqual({ resolution });
    expect(resolved.summary).toBe('Resolved: <b>"Done {"a":1}');
  });

  describe('GET /api/incidents', () => {
    /** In the order of creation: a benign one, a malicious one that is resolved, one without a verdict. */
    const made: Shown[] = [];

    beforeAll(async () => {
      for (const source of ['f1', 'f2', 'f3']) made.push(await create({ source }));
      const aMoment = () => new Promise((resolve) => setTimeout(resolve, 3));
      await aMoment();
      await put(made[0]!['id']!, { verdict: { classification: 'benign' } });
      await aMoment();
      await put(made[1]!['id']!, { verdict: { classification: 'malicious' } });
      await put(made[1]!['id']!, { status: 'resolved' });
      for (const [at, { id }] of made.entries()) made[at] = await read(id!);
    });

    /** Of those three, by their place. */
    const places = async (query: string): Promise<number[]> => {
      const answer = await viewer.request('GET', `/api/incidents?per_page=100&${query}`);
      expect(answer.status).toBe(200);
      expect(answer.body.meta.total).toBe(answer.body.data.length);
      return (answer.body.data as Shown[])
        .map(({ id }) => made.findIndex((one) => one['id'] === id))
        .filter((place) => place >= 0);
    };

    it('shows classification, resolved_at and resolved_by in lists while they apply', async () => {
      const { id } = await create({ source: 'shown-in-lists' });
      const line = async (): Promise<Shown> =>
        (await viewer.request('GET', '/api/incidents?source=shown-in-lists')).body.data[0];
      const optional = ['classification', 'resolved_at', 'resolved_by'];
      const untold = await line();
      for (const field of optional) expect(untold).not.toHaveProperty(field);
      await put(id!, { status: 'resolved', verdict: { classification: 'benign' } });
      const { resolved_at, resolved_by } = await read(id!);
      expect(resolved_by).toBe(aliceName);
      expect(await line()).toMatchObject({ classification: 'benign', resolved_at, resolved_by });
      const verdict = { classification: 'suspicious' };
      await put(id!, { status: 'open', reopen: true, verdict });
      expect(await line()).toMatchObject({ status: 'open', classification: 'suspicious' });
      for (const field of ['resolved_at', 'resolved_by']) {
        expect(await line()).not.toHaveProperty(field);
      }
    });

    it('sorts by the time of resolution, with unresolved incidents last', async () => {
      const resolved = await create({ source: 'f4' });
      await new Promise((resolve) => setTimeout(resolve, 3));
      await put(resolved['id']!, { status: 'resolved' });
      made.push(await read(resolved['id']!));
      expect(await places('sort=-resolved_at')).toEqual([3, 1, 2, 0]);
      expect(await places('sort=resolved_at')).toEqual([1, 3, 0, 2]);
      expect(await places('sort=resolved_at,-created_at&classification=malicious')).toEqual([1]);
      made.pop();
      await put(resolved['id']!, { status: 'open', reopen: true });
    });

    it('finds incidents by their integer numbers', async () => {
      const [one, , three] = made.map(({ incident_number }) => incident_number!);
      expect(await places(`number=${one}`)).toEqual([0]);
      expect(await places(`number=${one},${three}`)).toEqual([2, 0]);
      expect(await places(`number=${one}&number=${three}&sort=created_at`)).toEqual([0, 2]);
      expect(await places(`number=${one}&status=resolved`)).toEqual([]);
      const [, year, sequence] = one!.split('-');
      expect(await places(`number=INC-${Number(year) - 1}-${sequence}`)).toEqual([]);
      expect(await places(`number=INC-${year}-0${sequence}`)).toEqual([]);
      expect(await places('number=INC-2026-999999999999999999')).toEqual([]);
    });

    it('finds incidents by the classification of their current verdict', async () => {
      expect(await places('classification=malicious')).toEqual([1]);
      expect(await places('classification=malicious,benign&source=f1')).toEqual([0]);
      expect(await places('classification=benign&classification=malicious')).toEqual([1, 0]);
      expect(await places('classification=malicious&status=resolved&severity=medium')).toEqual([1]);
      expect(await places('classification=malicious&sort=-severity')).toEqual([1]);
      const all = 'classification=malicious,suspicious,benign,inconclusive';
      expect(await places(all)).toEqual([1, 0]);
    });

    it('finds incidents changed after a time, exclusively', async () => {
      const [one, two, three] = made.map(({ updated_at }) => updated_at!);
      expect(await places(`updated_after=${one}`)).toEqual([1]);
      expect(await places(`updated_after=${three}&sort=-updated_at`)).toEqual([1, 0]);
      expect(await places(`updated_after=${two}`)).toEqual([]);
      expect(await places(`updated_after=${one!.replace('Z', '1Z')}`)).toEqual([1]);
      expect(await places('updated_after=0001-01-01T00:00:00%2B14:00')).toEqual([2, 1, 0]);
      expect(await places('updated_after=9999-12-31T23:59:59.999-05:00')).toEqual([]);
    });

    it('finds incidents resolved between two times, exclusively', async () => {
      const at = made[1]!['resolved_at']!;
      const time = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
      expect(await places(`resolved_after=${time(-1)}&resolved_before=${time(1)}`)).toEqual([1]);
      expect(await places(`resolved_after=${at}`)).toEqual([]);
      expect(await places(`resolved_before=${at}&source=f2`)).toEqual([]);
      const finer = at.replace('Z', '0001Z');
      expect(await places(`resolved_before=${finer}&source=f2`)).toEqual([1]);
      expect(await places(`resolved_after=${finer}`)).toEqual([]);
      expect(await places(`resolved_after=${time(-1)}&sort=triaged_at`)).toEqual([1]);
    });

    it.each([
      ['number=', 'number'],
      ['number=42', 'number'],
      ['number=INC-2026-42', 'number'],
      ['number=INC-2026-9999999999999999999', 'number'],
      ["number=INC-2026-0042'", 'number'],
      ['number=INC-2026-0042,', 'number'],
      ['number=INC-2026-%D9%A0%D9%A0%D9%A4%D9%A2', 'number'],
      [`number=${Array(21).fill('INC-2026-0042').join(',')}`, 'number'],
      ['classification=evil', 'classification'],
      ['classification=Benign', 'classification'],
      ['classification=%00', 'classification'],
      ['updated_after=yesterday', 'updated_after'],
      ['updated_after=0000-01-01T00:00:00Z', 'updated_after'],
      ['updated_after=2026-01-01T00:00:00Z&updated_after=2026-01-01T00:00:00Z', 'updated_after'],
      ['resolved_after=', 'resolved_after'],
      ['resolved_before=2026-02-30T00:00:00Z', 'resolved_before'],
    ])('refuses the query %s with 422', async (query, field) => {
      const answer = await viewer.request('GET', `/api/incidents?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
      expect(answer.body.error.details.errors[0].field).toBe(field);
    });
  });
});
