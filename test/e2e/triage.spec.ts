import type { TriageTool } from '../../src/triage/model/triage-model.port.js';
import { FakeVendor } from '../support/fake-vendor.js';
import {
  heldModel,
  judgement,
  RAW_DATA,
  script,
  TriageWorld,
  VERDICT,
  type Judge,
} from '../support/triage/triage-world.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() =>
  TriageWorld.start({
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    PROTECTED_TARGETS: '{"ips": ["198.51.100.*"]}',
  }),
);

const NOBODY = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

describe('the triage of an incident', () => {
  beforeEach(() => {
    script(world.app, async () => judgement());
  });

  it('stores the verdict of the model, and responds with the run', async () => {
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
      provider: 'anthropic',
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

  it('gives the model the incident with its raw data, indicators by id, and tools', async () => {
    const asked = script(world.app, async () => judgement());
    const id = await world.incident();
    await world.triage(id);
    const [given, judging] = asked.mock.calls[0]!;
    expect(given).toMatchObject({
      id,
      incident_type: 'phishing',
      rawData: RAW_DATA,
      guidance: undefined,
    });
    expect(given.indicators).toContainEqual(
      expect.objectContaining({ type: 'email', value: RAW_DATA.sender, pointers: ['/sender'] }),
    );
    expect(judging.tools).toEqual([]);
  });

  it('shows a complete run, with the tool calls of the model and the points of a scorer', async () => {
    const points = [
      { rule: 'lookalike', points: 30, pointer: '/sender', explanation: 'Looks like another.' },
    ];
    const call = {
      id: 't1',
      tool: 'look_up',
      input: { indicator_id: 'i1' },
      output: { a: 1 },
      duration_ms: 1,
    };
    script(world.app, async () => judgement({ tool_calls: [call], points }));
    const id = await world.incident();
    const { triage_id } = (await world.triage(id)).body.data;
    const run = await world.run(id, triage_id);
    expect(run).toMatchObject({
      triage_id,
      verdict: { evidence: VERDICT.evidence },
      prompt_hash: 'ab'.repeat(32),
      requested_by: expect.stringMatching(/^key:analyst/),
      points,
      tool_calls: [call],
    });
    const [listed] = await world.runs(id);
    expect(listed).not.toHaveProperty('tool_calls');
    expect(listed).not.toHaveProperty('points');
  });

  it('lists the runs of the incident page by page, newest first', async () => {
    const id = await world.incident();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.unshift((await world.triage(id, { body: { force: true } })).body.data.triage_id);
    }
    const path = `/api/incidents/${id}/triage`;
    const page = await world.clients.viewer.get(`${path}?per_page=2`);
    expect(page.body.meta).toEqual({ page: 1, per_page: 2, total: 3 });
    expect(page.body.data.map((run: { triage_id: string }) => run.triage_id)).toEqual(
      ids.slice(0, 2),
    );
    const oldest = await world.clients.viewer.get(`${path}?sort=created_at&per_page=1`);
    expect(oldest.body.data[0].triage_id).toBe(ids[2]);
    expect((await world.clients.viewer.get(`${path}?page=9`)).body.data).toEqual([]);
    expect((await world.clients.viewer.get(`${path}?sort=status`)).status).toBe(422);
  });

  it('responds with the last completed run, without a request to the model', async () => {
    const id = await world.incident();
    const first = await world.triage(id);
    const asked = script(world.app, async () => judgement());
    expect((await world.triage(id)).body).toEqual(first.body);
    expect(asked).not.toHaveBeenCalled();
    const forced = await world.triage(id, { body: { force: true } });
    expect(asked).toHaveBeenCalledTimes(1);
    expect(forced.body.data.triage_id).not.toBe(first.body.data.triage_id);
  });

  describe('after a decision of a person', () => {
    const verdict = { classification: 'benign', reasoning: 'We sent it ourselves.' };

    it.each(['before the triage', 'while the model is asked'])(
      'keeps the verdict that the person gave %s',
      async (when) => {
        const held = heldModel();
        script(world.app, held.judge);
        const id = await world.incident();
        if (when === 'before the triage') await world.update(id, { verdict });
        const answer = world.triage(id);
        await held.begun;
        if (when !== 'before the triage') await world.update(id, { verdict });
        held.answer.resolve(judgement());
        expect((await answer).body.data).toMatchObject({
          status: 'completed',
          applied: false,
          not_applied: 'verdict_by_person',
          verdict: { classification: 'malicious' },
        });
        expect(await world.read(id)).toMatchObject({ verdict, recommended_actions: [] });
        const entries = await world.timeline(id);
        const { summary } = entries.find(({ event }) => event === 'triage_completed')!;
        expect(summary).toMatch(/Kept as a run only/);
      },
    );
  });

  it('changes a resolved incident only with force, and leaves it resolved', async () => {
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

  it('shows verdict and evidence in the timeline, without links', async () => {
    const id = await world.incident();
    await world.triage(id);
    const entries = await world.timeline(id);
    const entry = (name: string) => entries.find(({ event }) => event === name)!;
    const { summary } = entry('triage_completed');
    expect(summary).toContain('scripted-1 found it malicious (bec), confidence 0.90.');
    expect(summary).toContain('Evidence: /sender is');
    expect(summary).not.toContain('http://');
    expect(entry('triaged')).toMatchObject({ subject: { type: 'triage' } });
  });

  it('is recorded in the audit trail', async () => {
    const id = await world.incident();
    const { triage_id } = (await world.triage(id)).body.data;
    const path = '/api/audit?action=triage.requested&per_page=1';
    expect((await world.clients.manager.get(path)).body.data[0]).toMatchObject({
      actor: expect.stringMatching(/^key:analyst/),
      subject: { type: 'triage', id: triage_id },
      details: { incident_id: id, force: false },
    });
    const ended = await world.clients.manager.get('/api/audit?action=triage.completed');
    expect(ended.body.data[0].details).toMatchObject({ classification: 'malicious' });
  });

  it('returns 404 for a deleted incident and for a run of another incident', async () => {
    const [id, other] = [await world.incident(), await world.incident()];
    const { triage_id } = (await world.triage(id)).body.data;
    const get = (path: string) => world.clients.viewer.get(`/api/incidents/${path}`);
    expect((await get(`${other}/triage/${triage_id}`)).status).toBe(404);
    expect((await get(`${id}/triage/not-an-id`)).status).toBe(404);
    await world.clients.admin.delete(`/api/incidents/${id}`);
    expect((await get(`${id}/triage/${triage_id}`)).status).toBe(404);
    expect((await get(`${id}/triage`)).status).toBe(404);
    expect((await world.triage(id)).status).toBe(404);
    expect((await world.triage(NOBODY)).status).toBe(404);
    expect((await world.triage('x')).status).toBe(404);
  });

  it('accepts no evidence from a failed look-up', async () => {
    const output = { error: 'There is no such tool.' };
    const call = { id: 't1', tool: 'look_up', input: {}, output, failed: true, duration_ms: 1 };
    const evidence = [{ source: 't1', pointer: '/error', value: 'There is no such tool.' }];
    const indicators = [{ type: 'host', value: 'such' }];
    const verdict = { ...VERDICT, classification: 'benign', evidence, indicators } as const;
    script(world.app, async () => judgement({ verdict, tool_calls: [call] }));
    const { data } = (await world.triage(await world.incident())).body;
    expect(data.verdict).toMatchObject({
      classification: 'inconclusive',
      evidence: [],
      indicators: [],
    });
    expect(data.notes).toHaveLength(1);
    expect(data.tool_calls).toHaveLength(1);
  });

  it('runs for one of two simultaneous requests, and the other request gets 409', async () => {
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
    const playbook = async (more: object): Promise<{ id: string; name: string }> => {
      const body = { name: `guide-${(playbooks += 1)}`, ...more };
      return (await world.clients.senior.post('/api/playbooks', body)).body.data;
    };
    let playbooks = 0;

    it('is rejected if the playbook is unknown, disabled or deleted', async () => {
      const id = await world.incident();
      const disabled = await playbook({ enabled: false, instructions: 'Be strict.' });
      const deleted = await playbook({ instructions: 'Be strict.' });
      await world.clients.senior.delete(`/api/playbooks/${deleted.id}`);
      for (const name of [
        'no-such-playbook',
        disabled.name,
        disabled.id,
        deleted.name,
        deleted.id,
      ]) {
        const answer = await world.triage(id, { body: { playbook: name } });
        expect(answer.body.error.details.errors[0]).toMatchObject({ code: 'unknown_playbook' });
      }
    });

    it('sends the instructions of the playbook to the model, by name and by id', async () => {
      const asked = script(world.app, async () => judgement());
      const steps = [{ name: 'look', action: 'lookup_ip', parameters: { ip: '192.0.2.1' } }];
      const { id, name } = await playbook({ instructions: 'Be strict.', steps });
      for (const called of [name, id]) {
        const incident = await world.incident();
        const { data } = (await world.triage(incident, { body: { playbook: called } })).body;
        expect(asked.mock.lastCall![0].guidance).toBe('Be strict.');
        expect(data).toMatchObject({ playbook: called, notes: [] });
        const actions = await world.clients.viewer.get(`/api/incidents/${incident}/actions`);
        expect(actions.body.data).toEqual([]);
      }
    });
  });

  it('offers the model no look-up if only a sandbox could answer', async () => {
    const { admin } = world.clients;
    const body = { name: 'pretends', type: 'sandbox', config: {} };
    const made = await admin.post('/api/connectors', body);
    expect(made.status).toBe(201);
    const asked = script(world.app, async () => judgement());
    await world.triage(await world.incident({ raw_data: { src: '203.0.113.9' } }));
    expect(asked.mock.lastCall![1].tools).toEqual([]);
    await admin.delete(`/api/connectors/${made.body.data.id}`);
  });
});

describe('the tools of a triage run', () => {
  const IP = '203.0.113.9';
  const vendor = useStarted(() => FakeVendor.start());

  beforeAll(async () => {
    const answer = await world.clients.admin.post('/api/connectors', {
      name: 'intelligence',
      type: 'http',
      config: {
        base_url: vendor.url,
        actions: { lookup_ip: { path: '/lookup', body: { ip: '{{ parameters.ip }}' } } },
      },
    });
    if (answer.status !== 201) throw new Error(answer.text);
  });
  afterEach(() => vendor.forget());

  const lookups = () => vendor.requests.filter(({ path }) => path === '/lookup');

  /** Runs a triage in which the model calls the tools as `work` does. */
  const asking = async (
    id: string,
    work: (tools: ReadonlyMap<string, TriageTool>, given: Parameters<Judge>[0]) => Promise<void>,
  ) => {
    let failure: unknown;
    script(world.app, async (given, { tools }) => {
      await work(new Map(tools.map((tool) => [tool.name, tool])), given).catch((error: unknown) => {
        failure = error;
      });
      return judgement();
    });
    await world.triage(id, { body: { force: true } });
    if (failure) throw failure as Error;
  };

  it('look up extracted indicators at the connector that provides the look-up', async () => {
    const id = await world.incident({ raw_data: { src: IP, note: 'x' } });
    await asking(id, async (tools, { indicators }) => {
      const answer = await tools.get('look_up')!.ask(indicators[0]!);
      expect(answer).toMatchObject({ connector: 'intelligence', answered: true });
    });
    expect(lookups()).toHaveLength(1);
    expect(JSON.stringify(lookups()[0])).toContain(IP);
  });

  it('look up no protected target', async () => {
    const id = await world.incident({ raw_data: { src: '198.51.100.7' } });
    await asking(id, async (tools, { indicators }) => {
      const asked = tools.get('look_up')!.ask(indicators[0]!);
      await expect(asked).rejects.toThrow('Looking it up needs the approval of a manager.');
    });
    expect(lookups()).toEqual([]);
  });

  it('look up nothing while the kill switch is on', async () => {
    const id = await world.incident({ raw_data: { src: IP } });
    let turnedOn: number | undefined;
    script(world.app, async ({ indicators }, { tools }) => {
      turnedOn = (await world.turnOn()).status;
      await tools.find(({ name }) => name === 'look_up')!.ask(indicators[0]!);
      return judgement();
    });
    const { status, body } = await world.triage(id);
    await world.turnOff();
    expect({ turnedOn, lookups: lookups() }).toEqual({ turnedOn: 200, lookups: [] });
    // 202: the database was too slow for the permit, so the run waits. With either status there is no verdict.
    expect([202, 409]).toContain(status);
    expect(body.data?.verdict).toBeUndefined();
  });
});
