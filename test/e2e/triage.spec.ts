import {
  heldModel,
  judgement,
  RAW_DATA,
  script,
  TriageWorld,
  unavailable,
  VERDICT,
} from '../support/triage/triage-world.js';

const NOBODY = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

describe('the triage of an incident', () => {
  let world: TriageWorld;

  beforeAll(async () => {
    world = await TriageWorld.start({ TRIAGE_TIMEOUT_MS: '2000' });
  });
  beforeEach(() => {
    script(world.app, async () => judgement());
  });
  afterAll(() => world?.close());

  it('gives it the verdict that the model gave, and answers with the run', async () => {
    const id = await world.incident();
    const answer = await world.triage(id);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      triage_id: expect.any(String),
      incident_id: id,
      status: 'completed',
      applied: true,
      verdict: { classification: 'malicious', confidence: 0.9, category: 'bec' },
      recommended_actions: ['quarantine_email', 'block_sender'],
      duration_ms: expect.any(Number),
      provider: 'rules',
      model: 'scripted-1',
      tokens: { input: 100, output: 20, cached_input: 0 },
    });
    expect(await world.read(id)).toMatchObject({
      status: 'triaged',
      triaged_at: expect.any(String),
      recommended_actions: ['quarantine_email', 'block_sender'],
      verdict: {
        classification: 'malicious',
        decided_by: 'system',
        model: 'scripted-1',
        evidence: VERDICT.evidence,
      },
    });
  });

  it('takes an empty object for a body, and refuses fields that it does not know', async () => {
    const id = await world.incident();
    expect((await world.triage(id, { body: { severity: 'low' } })).status).toBe(422);
    expect((await world.triage(id, { body: { force: 'yes' } })).status).toBe(422);
    expect((await world.triage(id, { body: {} })).status).toBe(200);
  });

  it('gives the model the incident with its raw data, indicators by id, and tools', async () => {
    const asked = script(world.app, async () => judgement());
    const id = await world.incident();
    await world.triage(id);
    const [given, judging] = asked.mock.calls[0]!;
    expect(given).toMatchObject({
      incidentId: id,
      incidentType: 'phishing',
      rawData: RAW_DATA,
      guidance: undefined,
    });
    expect(given.indicators).toContainEqual(
      expect.objectContaining({ type: 'email', value: RAW_DATA.sender, pointers: ['/sender'] }),
    );
    expect(judging.tools.map(({ name }) => name)).toEqual([
      'related_incidents',
      'mail_authentication',
    ]);
  });

  it('shows a run whole, with what the model asked and the points of a scorer', async () => {
    const points = [
      { rule: 'lookalike', points: 30, pointer: '/sender', explanation: 'Looks like another.' },
    ];
    script(world.app, async (given, { tools, signal }) => {
      const related = tools.find(({ name }) => name === 'related_incidents')!;
      const input = { indicator_id: given.indicators[0]!.id };
      const output = await related.ask(input, signal);
      const call = { id: 't1', tool: related.name, input, output, durationMs: 1 };
      return judgement({ toolCalls: [call], points });
    });
    const id = await world.incident();
    const { triage_id } = (await world.triage(id)).body.data;
    const run = await world.run(id, triage_id);
    expect(run).toMatchObject({
      triage_id,
      verdict: { evidence: VERDICT.evidence },
      prompt_hash: 'ab'.repeat(32),
      requested_by: expect.stringMatching(/^key:analyst/),
      points,
      tool_calls: [{ id: 't1', tool: 'related_incidents', input: { indicator_id: 'i1' } }],
    });
    expect(run.tool_calls[0].output.incidents).toEqual(expect.any(Array));
    const [listed] = await world.runs(id);
    expect(listed).not.toHaveProperty('tool_calls');
    expect(listed).not.toHaveProperty('points');
  });

  it('lists the runs of the incident page by page, the newest first', async () => {
    const id = await world.incident();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.unshift((await world.triage(id, { body: { force: true } })).body.data.triage_id);
    }
    const path = `/api/incidents/${id}/triage`;
    const page = await world.clients.viewer.request('GET', `${path}?per_page=2`);
    expect(page.body.meta).toEqual({ page: 1, per_page: 2, total: 3 });
    expect(page.body.data.map((run: { triage_id: string }) => run.triage_id)).toEqual(
      ids.slice(0, 2),
    );
    const oldest = await world.clients.viewer.request('GET', `${path}?sort=created_at&per_page=1`);
    expect(oldest.body.data[0].triage_id).toBe(ids[2]);
    expect((await world.clients.viewer.request('GET', `${path}?page=9`)).body.data).toEqual([]);
    expect((await world.clients.viewer.request('GET', `${path}?sort=status`)).status).toBe(422);
  });

  it('answers with the last completed run when it was done before, without asking the model', async () => {
    const id = await world.incident();
    const first = await world.triage(id);
    const asked = script(world.app, async () => judgement());
    const again = await world.triage(id);
    expect(again.body).toEqual(first.body);
    expect(asked).not.toHaveBeenCalled();
    const forced = await world.triage(id, { body: { force: true } });
    expect(asked).toHaveBeenCalledTimes(1);
    expect(forced.body.data.triage_id).not.toBe(first.body.data.triage_id);
  });

  describe('that a person decided', () => {
    const verdict = { classification: 'benign', reasoning: 'We sent it ourselves.' };

    it('keeps the verdict of the person and the run beside it', async () => {
      const id = await world.incident();
      await world.update(id, { verdict });
      const { data } = (await world.triage(id)).body;
      expect(data).toMatchObject({
        status: 'completed',
        applied: false,
        not_applied: 'verdict_by_person',
        verdict: { classification: 'malicious' },
      });
      expect(await world.read(id)).toMatchObject({ verdict, recommended_actions: [] });
      const entries = await world.timeline(id);
      const { summary } = entries.find(({ event }) => event === 'triage_completed')!;
      expect(summary).toMatch(/Kept as a run only/);
    });

    it('takes the verdict of the model when that is forced', async () => {
      const id = await world.incident();
      await world.update(id, { verdict });
      const { data } = (await world.triage(id, { body: { force: true } })).body;
      expect(data.applied).toBe(true);
      expect((await world.read(id)).verdict).toMatchObject({
        classification: 'malicious',
        decided_by: 'system',
      });
    });

    it('keeps the verdict of a person who was faster than the model', async () => {
      const held = heldModel();
      script(world.app, held.judge);
      const id = await world.incident();
      const answer = world.triage(id);
      await held.begun;
      await world.update(id, { verdict });
      held.answer.resolve(judgement());
      expect((await answer).body.data).toMatchObject({ applied: false });
      expect((await world.read(id)).verdict.classification).toBe('benign');
    });
  });

  it('changes a resolved incident only when that is forced, and leaves it resolved', async () => {
    const id = await world.incident();
    await world.update(id, { status: 'resolved', resolution: 'Done.' });
    const kept = (await world.triage(id)).body.data;
    expect(kept).toMatchObject({ applied: false, not_applied: 'incident_resolved' });
    expect(await world.read(id)).not.toHaveProperty('verdict');
    await world.triage(id, { body: { force: true } });
    expect(await world.read(id)).toMatchObject({
      status: 'resolved',
      verdict: { classification: 'malicious' },
    });
  });

  it('is asked anew once an incident is open again that was resolved before it had a verdict', async () => {
    const asked = script(world.app, async () => judgement());
    const id = await world.incident();
    await world.update(id, { status: 'resolved', resolution: 'a drill' });
    const kept = (await world.triage(id)).body.data;
    expect(kept).toMatchObject({ applied: false, not_applied: 'incident_resolved' });
    expect((await world.triage(id)).body.data.triage_id).toBe(kept.triage_id);
    await world.update(id, { status: 'open', reopen: true });
    const anew = (await world.triage(id, { body: {} })).body.data;
    expect(anew).toMatchObject({ status: 'completed', applied: true });
    expect(anew.triage_id).not.toBe(kept.triage_id);
    expect((await world.read(id)).verdict).toMatchObject({ classification: 'malicious' });
    expect((await world.triage(id)).body.data.triage_id).toBe(anew.triage_id);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it('tells in the timeline what was found and on what it rests, without a link', async () => {
    const id = await world.incident();
    await world.triage(id);
    const entries = await world.timeline(id);
    const entry = (name: string) => entries.find(({ event }) => event === name)!;
    const { summary } = entry('triage_completed');
    expect(summary).toContain('scripted-1 found it malicious (bec), confidence 0.90.');
    expect(summary).toContain('Evidence: /sender is');
    expect(summary).toContain('120 tokens');
    expect(summary).not.toContain('http://');
    expect(entry('triaged')).toMatchObject({ subject: { type: 'triage' } });
  });

  it('tells it in the order of cause, by the name of who asked', async () => {
    const asker = expect.stringMatching(/^key:analyst/);
    for (let n = 0; n < 12; n += 1) {
      const id = await world.incident();
      await world.triage(id);
      const entries = await world.timeline(id);
      expect(entries.map(({ event, actor }) => ({ event, actor }))).toEqual(
        ['created', 'triage_completed', 'triaged', 'updated'].map((event) => ({
          event,
          actor: asker,
        })),
      );
    }
  });

  it('is recorded in the audit trail', async () => {
    const id = await world.incident();
    const { triage_id } = (await world.triage(id)).body.data;
    const path = '/api/audit?action=triage.requested&per_page=1';
    const { body } = await world.clients.manager.request('GET', path);
    expect(body.data[0]).toMatchObject({
      actor: expect.stringMatching(/^key:analyst/),
      subject: { type: 'triage', id: triage_id },
      details: { incident_id: id, force: false },
    });
    const ended = await world.clients.manager.request('GET', '/api/audit?action=triage.completed');
    expect(ended.body.data[0].details).toMatchObject({ classification: 'malicious' });
  });

  it('needs an analyst, and shows its runs to every viewer', async () => {
    const id = await world.incident();
    expect((await world.triage(id, { client: world.clients.viewer })).status).toBe(403);
    expect(await world.runs(id)).toEqual([]);
  });

  it('knows no deleted incident, and no run of another one', async () => {
    const [id, other] = [await world.incident(), await world.incident()];
    const { triage_id } = (await world.triage(id)).body.data;
    const get = (path: string) => world.clients.viewer.request('GET', `/api/incidents/${path}`);
    expect((await get(`${other}/triage/${triage_id}`)).status).toBe(404);
    expect((await get(`${id}/triage/not-an-id`)).status).toBe(404);
    await world.clients.admin.request('DELETE', `/api/incidents/${id}`);
    expect((await get(`${id}/triage/${triage_id}`)).status).toBe(404);
    expect((await get(`${id}/triage`)).status).toBe(404);
    expect((await world.triage(id)).status).toBe(404);
    expect((await world.triage(NOBODY)).status).toBe(404);
    expect((await world.triage('x')).status).toBe(404);
  });

  it('fails when the incident is deleted while the model is asked', async () => {
    const held = heldModel();
    script(world.app, held.judge);
    const id = await world.incident();
    const answer = world.triage(id);
    await held.begun;
    await world.clients.admin.request('DELETE', `/api/incidents/${id}`);
    held.answer.resolve(judgement());
    expect((await answer).status).toBe(404);
    const [row] = await world.database.query('select * from triage_runs where incident_id = $1', [
      id,
    ]);
    expect(row).toMatchObject({ status: 'failed', error: { reason: 'incident_deleted' } });
  });

  it.each([
    ['why a question was not answered', { error: 'There is no such tool.' }, { failed: true }],
    ['what a sandbox answers', { error: 'There is no such tool.', simulated: true }, {}],
  ])('takes no evidence from %s', async (_, output, more) => {
    const call = { id: 't1', tool: 'look_up', input: {}, output, durationMs: 1, ...more };
    const evidence = [{ source: 't1', pointer: '/error', value: 'There is no such tool.' }];
    const indicators = [{ type: 'host', value: 'such' }];
    const verdict = { ...VERDICT, classification: 'benign', evidence, indicators } as const;
    script(world.app, async () => judgement({ verdict, toolCalls: [call] }));
    const { data } = (await world.triage(await world.incident())).body;
    expect(data.verdict).toMatchObject({
      classification: 'inconclusive',
      evidence: [],
      indicators: [],
    });
    expect(data.notes).toHaveLength(1);
    expect(data.tool_calls).toHaveLength(1);
  });

  it('is done by one of two requests that come at once, and the other learns of it', async () => {
    const held = heldModel();
    const asked = script(world.app, held.judge);
    const id = await world.incident();
    const twins = [world.triage(id), world.triage(id, { body: { force: true } })];
    await held.begun;
    const refused = await Promise.race(twins);
    const [open] = await world.runs(id);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({
      code: 'triage_in_progress',
      details: { triage_id: open.triage_id, status: 'running' },
    });
    held.answer.resolve(judgement());
    expect((await Promise.all(twins)).map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  describe('with a playbook', () => {
    it('is refused when there is none of that name', async () => {
      const id = await world.incident();
      const answer = await world.triage(id, { body: { playbook: 'no-such-playbook' } });
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors[0]).toMatchObject({
        field: 'playbook',
        code: 'unknown_playbook',
      });
      expect(await world.runs(id)).toEqual([]);
    });

    const playbook = async (more: object): Promise<{ id: string; name: string }> => {
      const body = { name: `guide-${(playbooks += 1)}`, ...more };
      return (await world.clients.senior.request('POST', '/api/playbooks', { body })).body.data;
    };
    let playbooks = 0;

    it('is refused when it is disabled or deleted', async () => {
      const id = await world.incident();
      const disabled = await playbook({ enabled: false, instructions: 'Be strict.' });
      const deleted = await playbook({ instructions: 'Be strict.' });
      await world.clients.senior.request('DELETE', `/api/playbooks/${deleted.id}`);
      for (const name of [disabled.name, disabled.id, deleted.name, deleted.id]) {
        const answer = await world.triage(id, { body: { playbook: name } });
        expect(answer.body.error.details.errors[0]).toMatchObject({ code: 'unknown_playbook' });
      }
    });

    it('gives its instructions to the model as guidance, by its name and by its id', async () => {
      const asked = script(world.app, async () => judgement());
      const steps = [{ name: 'look', action: 'lookup_ip', parameters: { ip: '192.0.2.1' } }];
      const { id, name } = await playbook({ instructions: 'Be strict.', steps });
      for (const called of [name, id]) {
        const incident = await world.incident();
        const { data } = (await world.triage(incident, { body: { playbook: called } })).body;
        expect(asked.mock.lastCall![0].guidance).toBe('Be strict.');
        expect(data).toMatchObject({ playbook: called, notes: [] });
        const actions = await world.clients.viewer.request(
          'GET',
          `/api/incidents/${incident}/actions`,
        );
        expect(actions.body.data).toEqual([]);
      }
    });

    it('guides by nothing when it has no instructions', async () => {
      const asked = script(world.app, async () => judgement());
      const { name } = await playbook({});
      const { data } = (await world.triage(await world.incident(), { body: { playbook: name } }))
        .body;
      expect(asked.mock.lastCall![0].guidance).toBeUndefined();
      expect(data).toMatchObject({ playbook: name, notes: [] });
    });
  });

  describe('with an Idempotency-Key', () => {
    it('asks the model once for a request that is repeated', async () => {
      const asked = script(world.app, async () => judgement());
      const id = await world.incident();
      const request = { body: { force: true }, headers: { 'idempotency-key': `once-${id}` } };
      const first = await world.triage(id, request);
      const again = await world.triage(id, request);
      expect(again.text).toBe(first.text);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(asked).toHaveBeenCalledTimes(1);
    });

    it('tells a twin that comes meanwhile that the first is under way', async () => {
      const held = heldModel();
      script(world.app, held.judge);
      const id = await world.incident();
      const request = { headers: { 'idempotency-key': `twin-${id}` } };
      const first = world.triage(id, request);
      await held.begun;
      expect((await world.triage(id, request)).body.error.code).toBe('conflict');
      held.answer.resolve(judgement());
      expect((await first).status).toBe(200);
    });

    it('may be tried again with the same key when the model failed', async () => {
      script(world.app, () => Promise.reject(unavailable('overloaded')));
      const id = await world.incident();
      const request = { headers: { 'idempotency-key': `again-${id}` } };
      expect((await world.triage(id, request)).status).toBe(503);
      script(world.app, async () => judgement());
      const again = await world.triage(id, request);
      expect(again.status).toBe(200);
      expect(again.headers).not.toHaveProperty('idempotency-replayed');
    });
  });

  it('counts against the limit of triage alone', async () => {
    const limited = await TriageWorld.start({ RATE_LIMIT_TRIAGE: '1', RATE_LIMIT_WRITE: '100' });
    try {
      script(limited.app, async () => judgement());
      const [id, other] = [await limited.incident(), await limited.incident()];
      expect((await limited.triage(id)).status).toBe(200);
      expect((await limited.triage(other)).status).toBe(429);
      expect((await limited.update(other, { severity: 'low' })).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
