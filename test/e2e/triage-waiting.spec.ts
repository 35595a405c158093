import { Logger } from '@nestjs/common';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { eventually } from '../support/jobs/eventually.js';
import {
  heldModel,
  judgement,
  script,
  TriageWorld,
  unavailable,
} from '../support/triage/triage-world.js';
import { useStarted } from '../support/use-started.js';

describe('a triage run in the background', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000' }));

  beforeEach(() => {
    script(world.app, async () => judgement());
  });

  /** Awaits the first failure of the run. */
  const failedOnce = async (id: string) => {
    const [run] = await eventually(
      () => world.runs(id),
      ([newest]) => newest?.status === 'queued' && newest.failures === 1,
    );
    return run;
  };

  it('is accepted with 202 and completed later', async () => {
    const id = await world.incident();
    const answer = await world.later(id);
    expect(answer.status).toBe(202);
    expect(answer.headers['preference-applied']).toBe('respond-async');
    expect(answer.body.data).toMatchObject({ triage_id: expect.any(String), status: 'queued' });
    expect((await world.until(id, 'completed')).triage_id).toBe(answer.body.data.triage_id);
    expect((await world.read(id)).verdict.classification).toBe('malicious');
  });

  it('is returned again for a repeated Idempotency-Key', async () => {
    const held = heldModel();
    script(world.app, held.judge);
    const id = await world.incident();
    const headers = { prefer: 'respond-async', 'idempotency-key': `later-${id}` };
    const first = await world.triage(id, { headers });
    const again = await world.triage(id, { headers });
    expect(again.text).toBe(first.text);
    expect(again.headers).toMatchObject({
      'idempotency-replayed': 'true',
      'preference-applied': 'respond-async',
    });
    const without = await world.triage(id, { headers: { 'idempotency-key': `later-${id}` } });
    expect(without.status).toBe(202);
    expect(without.headers).not.toHaveProperty('preference-applied');
    held.answer.resolve(judgement());
    await world.until(id, 'completed');
  });

  it('is created once for each event that requests triage', async () => {
    const id = await world.incident();
    await world.wantTriage(id);
    const run = await world.until(id, 'completed');
    expect(run).toMatchObject({ requested_by: 'system', force: false, applied: true });
    await world.wantTriage(id);
    // Event that the same queue processes after the event of the test.
    const later = await world.incident();
    await world.wantTriage(later);
    await world.until(later, 'completed');
    await eventually(
      () =>
        world.database.query<object[]>(
          `select from work where data #>> '{subject,id}' = $1 and data ->> 'type' = 'incident.triage_wanted'`,
          [id],
        ),
      (waiting) => waiting.length === 0,
    );
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('is created for an event of a source with auto_triage, with the playbook of the source', async () => {
    await registerSource(world.clients.admin, { auto_triage: true, playbook: 'not-there-yet' });
    const event = { alert_id: 'a-1', title: 'A strange mail', severity: 'high' };
    const received = await new WebhookSender(world.app.client).send({
      event_type: 'alert',
      data: event,
    });
    expect(received.body).toMatchObject({ status: 'accepted' });
    const id = received.body.incident_id as string;
    expect(await world.until(id, 'completed')).toMatchObject({
      requested_by: 'webhook:siem',
      playbook: 'not-there-yet',
      notes: expect.arrayContaining([expect.stringContaining('There is no enabled playbook')]),
    });
    expect((await world.read(id)).status).toBe('triaged');
    const entries = await world.timeline(id);
    expect(entries.map(({ event, actor }) => `${event} ${actor}`)).toEqual(
      ['created', 'triage_requested', 'triage_completed', 'triaged'].map(
        (event) => `${event} webhook:siem`,
      ),
    );
    expect(entries[1]!.summary).toBe('Triage was requested, with the playbook "not-there-yet".');
  });

  it('is not created for a deleted incident', async () => {
    const id = await world.incident();
    await world.clients.admin.delete(`/api/incidents/${id}`);
    await world.wantTriage(id);
    const other = await world.incident();
    await world.wantTriage(other);
    await world.until(other, 'completed');
    const rows = await world.database.query('select 1 from triage_runs where incident_id = $1', [
      id,
    ]);
    expect(rows).toEqual([]);
  });

  it('is retried after a failure of the provider, and shows the failure until then', async () => {
    const asked = script(world.app, (_, { meter }) => {
      meter.add({ input: 3, output: 1 });
      return Promise.reject(unavailable('unreachable', 'time'));
    });
    const id = await world.incident();
    await world.wantTriage(id);
    const waiting = await failedOnce(id);
    expect(waiting).toMatchObject({ status: 'queued', error: { reason: 'unreachable' } });
    expect(Date.parse(waiting.next_attempt_at as string)).toBeGreaterThan(
      Date.parse(waiting.created_at as string) + 1_000,
    );
    expect(asked).toHaveBeenCalledTimes(1);
    script(world.app, async () => judgement());
    await world.makeDue(id);
    const run = await world.until(id, 'completed');
    expect(run).toMatchObject({ failures: 1, tokens: { input: 103, output: 21 } });
    expect(run).not.toHaveProperty('error');
  });

  /** Returns the incident of a run that waits for an hour, as the provider requested. */
  const resting = async () => {
    script(world.app, () => Promise.reject(unavailable('rate_limited', 'time', 3_600_000)));
    const id = await world.incident();
    await world.wantTriage(id);
    await failedOnce(id);
    return id;
  };

  it('starts immediately when a person requests triage, with the options of the person', async () => {
    const id = await resting();
    const [waiting] = await world.runs(id);
    script(world.app, async () => judgement());
    const answer = await world.triage(id, { body: { force: true } });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      triage_id: waiting.triage_id,
      status: 'completed',
      force: true,
      failures: 1,
      requested_by: expect.stringMatching(/^key:/),
    });
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('continues to wait if a person requests triage and the provider fails again, and the person gets 503', async () => {
    const id = await resting();
    const [waiting] = await world.runs(id);
    const request = { headers: { 'idempotency-key': `still-${id}` } };
    const answer = await world.triage(id, request);
    expect(answer.status).toBe(503);
    expect(answer.body.error.details).toEqual({ reason: 'rate_limited' });
    expect(answer.headers['retry-after']).toBe('3600');
    const [run] = await world.runs(id);
    expect(run).toMatchObject({ triage_id: waiting.triage_id, status: 'queued', failures: 2 });
    script(world.app, async () => judgement());
    // The Idempotency-Key of the failed request can be used again.
    expect((await world.triage(id, request)).status).toBe(200);
  });

  it('starts immediately when a person requests triage with respond-async', async () => {
    const id = await resting();
    script(world.app, async () => judgement());
    expect((await world.later(id)).status).toBe(202);
    expect(await world.until(id, 'completed')).toMatchObject({ failures: 1 });
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('is executed for only one of several simultaneous requests', async () => {
    const id = await resting();
    const held = heldModel();
    const asked = script(world.app, held.judge);
    const statuses: number[] = [];
    const twins = Array.from({ length: 5 }, async () => {
      statuses.push((await world.triage(id)).status);
    });
    await held.begun;
    // Waits for four responses before the verdict: a request after the verdict would get the verdict.
    await eventually(() => statuses.length === 4);
    held.answer.resolve(judgement());
    await Promise.all(twins);
    expect(statuses).toEqual([409, 409, 409, 409, 200]);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['a person has given a verdict', { verdict: { classification: 'benign' } }],
    ['the incident was resolved', { status: 'resolved' }],
  ])('is not sent to the model after %s, and causes no event', async (_, change) => {
    const id = await resting();
    expect((await world.update(id, change)).status).toBe(200);
    const asked = script(world.app, async () => judgement());
    const record = jest.spyOn(world.app.nest.get(DomainEvents), 'record');
    await world.makeDue(id);
    const run = await world.until(id, 'failed');
    const news = record.mock.calls.flatMap(([, ...recorded]) => recorded);
    record.mockRestore();
    expect(run.error.reason).toBe('not_needed');
    expect(asked).not.toHaveBeenCalled();
    expect(news.filter(({ type }) => type === 'triage.failed')).toEqual([]);
    expect((await world.timeline(id)).at(-1)!.summary).toMatch(/^Not triaged: /);
  });

  it('fails with an event if a retry cannot help', async () => {
    const record = jest.spyOn(world.app.nest.get(DomainEvents), 'record');
    script(world.app, () => Promise.reject(unavailable('refused')));
    const id = await world.incident();
    await world.later(id);
    const run = await world.until(id, 'failed');
    const news = record.mock.calls.flatMap(([, ...recorded]) => recorded);
    record.mockRestore();
    expect(run.error).toEqual({ reason: 'refused', message: 'The provider says refused.' });
    expect(news.filter(({ type }) => type === 'triage.failed')).toEqual([
      {
        type: 'triage.failed',
        subject: { type: 'incident', id },
        payload: expect.objectContaining({ triage_id: run.triage_id, reason: 'refused' }),
      },
    ]);
    expect((await world.read(id)).status).toBe('open');
  });

  it('fails when its incident is deleted', async () => {
    script(world.app, () => Promise.reject(unavailable('overloaded', 'time')));
    const id = await world.incident();
    await world.later(id);
    await failedOnce(id);
    await world.clients.admin.delete(`/api/incidents/${id}`);
    const [row] = await world.database.query('select * from triage_runs where incident_id = $1', [
      id,
    ]);
    expect(row).toMatchObject({ status: 'failed', error: { reason: 'incident_deleted' } });
  });
});

describe('a triage run whose replica stops', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000' }, 2));
  let other: TriageWorld['replicas'][number];

  beforeAll(async () => {
    other = world.replicas[1]!;
    await world.stopWorkOf(world.app);
  });
  beforeEach(() => {
    script(other, async () => judgement({ model: 'the other' }));
    world.startWorkOf(other);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns the incidents of runs whose last claim has just expired. */
  const interruptedRuns = async (count: number, attempts: number) => {
    await world.stopWorkOf(other);
    const ids: string[] = [];
    while (ids.length < count) ids.push(await world.incident());
    for (const id of ids) await world.later(id);
    await world.database.query(
      `update work set ready = false, worker = gen_random_uuid(), fence = $2, attempts = $2, due_at = now() - interval '1 s'
        where ref in (select id from triage_runs where incident_id = any($1::uuid[]))`,
      [ids, attempts],
    );
    return ids;
  };

  it('is completed once, by another replica that takes over the run', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const held = heldModel();
    script(world.app, held.judge);
    const id = await world.incident();
    const answer = world.triage(id);
    await held.begun;
    await world.makeDue(id);
    const run = await world.until(id, 'completed');
    expect(run).toMatchObject({
      model: 'the other',
      notes: [expect.stringContaining('ended in the middle')],
    });
    const lines = warn.mock.calls.filter(([, line]) =>
      String(line).includes('its replica stopped'),
    );
    expect(lines).toEqual([[{ triage: run.triage_id }, expect.any(String)]]);
    held.answer.resolve(judgement({ model: 'the dead' }));
    // The first replica has lost its claim, so it responds with the verdict of the other replica.
    expect((await answer).body.data.model).toBe('the other');
    expect((await world.read(id)).verdict.model).toBe('the other');
    expect((await world.timeline(id)).filter(({ event }) => event === 'triaged')).toHaveLength(1);
  });

  it('fails after it has lost four replicas', async () => {
    const [id] = await interruptedRuns(1, 4);
    world.startWorkOf(other);
    expect((await world.until(id!, 'failed')).error.reason).toBe('interrupted');
  });

  it('given several interrupted runs → they are retried one at a time and do not delay other runs', async () => {
    const ids = await interruptedRuns(2, 1);
    ids.push(await world.incident());
    await world.later(ids.at(-1)!);
    const held = heldModel();
    const asked = script(other, held.judge);
    world.startWorkOf(other);
    const calls = (n: number) =>
      eventually(
        async () => asked.mock.calls.length,
        (seen) => seen >= n,
      );
    await calls(2);
    // When the worker claims the third run, it must not run the first two runs again.
    ids.push(await world.incident());
    await world.later(ids.at(-1)!);
    await calls(3);
    expect(asked).toHaveBeenCalledTimes(3);
    held.answer.resolve(judgement());
    for (const id of ids) await world.until(id, 'completed');
  });

  it('is left to other replicas by a shutdown, and the waiting request gets 202', async () => {
    const held = heldModel();
    script(world.app, held.judge);
    await world.stopWorkOf(other);
    const id = await world.incident();
    const answer = world.triage(id);
    await held.begun;
    const closed = world.app.nest.close();
    const told = await answer;
    expect(told.status).toBe(202);
    expect(told.body.data).toMatchObject({ status: 'queued' });
    await closed;
    const viewer = world.at(other, 'viewer');
    const { body } = await viewer.get(`/api/incidents/${id}/triage`);
    expect(body.data[0]).toMatchObject({ status: 'queued', failures: 0 });
  });
});
