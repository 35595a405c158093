import { Logger } from '@nestjs/common';
import { TRIAGE_EVENTS } from '../../src/triage/triage-run.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { RunClaims } from '../../src/triage/runs/run-claims.js';
import { RunQueue } from '../../src/triage/runs/run-queue.js';
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

describe('a triage run that nobody waits for', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000' }));

  beforeEach(() => {
    script(world.app, async () => judgement());
  });

  /** The run, when it waits after its first failure. */
  const failedOnce = async (id: string) => {
    const [run] = await eventually(
      () => world.runs(id),
      ([newest]) => newest?.status === 'queued' && newest.failures === 1,
    );
    return run;
  };

  it('is answered with 202 and carried out afterwards', async () => {
    const id = await world.incident();
    const answer = await world.later(id);
    expect(answer.status).toBe(202);
    expect(answer.headers['preference-applied']).toBe('respond-async');
    expect(answer.body.data).toMatchObject({ triage_id: expect.any(String), status: 'queued' });
    expect((await world.until(id, 'completed')).triage_id).toBe(answer.body.data.triage_id);
    expect((await world.read(id)).verdict.classification).toBe('malicious');
  });

  it('is told in the same words to who asks again with the same Idempotency-Key', async () => {
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

  it('is made for an incident that wants triage, once for each event', async () => {
    const id = await world.incident();
    await world.wantTriage(id);
    const run = await world.until(id, 'completed');
    expect(run).toMatchObject({ requested_by: 'system', force: false, applied: true });
    await world.wantTriage(id);
    // An event of the same queue, recorded after it.
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

  it('is made by an event of a source that wants it, with the playbook that the source names', async () => {
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
    expect(entries[1]!.summary).toBe('Triage was asked for, with the playbook "not-there-yet".');
  });

  it('is not made when the incident is gone', async () => {
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

  it('is tried again while the provider is down, and shows why it waits', async () => {
    const asked = script(world.app, () =>
      Promise.reject(
        unavailable('unreachable', { mayHelpLater: true, tokens: { input: 3, output: 1 } }),
      ),
    );
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

  /** A run that a source wants, and that the provider wants to rest for an hour. */
  const resting = async () => {
    const wait = { mayHelpLater: true, retryAfterMs: 3_600_000 };
    script(world.app, () => Promise.reject(unavailable('rate_limited', wait)));
    const id = await world.incident();
    await world.wantTriage(id);
    await failedOnce(id);
    return id;
  };
  const secondsLeft = async (id: string) => {
    const [run] = await world.runs(id);
    return (Date.parse(run.next_attempt_at as string) - Date.now()) / 1_000;
  };

  it('rests no longer than a minute once the provider has answered somebody', async () => {
    const id = await resting();
    expect(await secondsLeft(id)).toBeGreaterThan(3_000);
    script(world.app, async () => judgement());
    expect((await world.triage(await world.incident())).status).toBe(200);
    await eventually(async () => (await secondsLeft(id)) <= 61);
  });

  it('is brought forward and answered when a person asks, with what the person wants', async () => {
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

  it('waits on when a person asks and the provider still gives nothing, who is told so', async () => {
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
    // Nothing was remembered of the request that got no verdict.
    expect((await world.triage(id, request)).status).toBe(200);
  });

  it('is begun at once when a person asks who does not wait for it', async () => {
    const id = await resting();
    script(world.app, async () => judgement());
    expect((await world.later(id)).status).toBe(202);
    expect(await world.until(id, 'completed')).toMatchObject({ failures: 1 });
    expect(await world.runs(id)).toHaveLength(1);
  });

  it("is one person's of many who ask at once", async () => {
    const id = await resting();
    const held = heldModel();
    const asked = script(world.app, held.judge);
    const statuses: number[] = [];
    const twins = Array.from({ length: 5 }, async () => {
      statuses.push((await world.triage(id)).status);
    });
    await held.begun;
    // One that came after the answer would be told the verdict.
    await eventually(() => statuses.length === 4);
    held.answer.resolve(judgement());
    await Promise.all(twins);
    expect(statuses).toEqual([409, 409, 409, 409, 200]);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['a person has decided', { verdict: { classification: 'benign' } }],
    ['the incident was resolved', { status: 'resolved' }],
  ])('is not sent to the model when %s meanwhile, and nobody is alarmed', async (_, change) => {
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
    expect(news.filter(({ type }) => type === TRIAGE_EVENTS.failed)).toEqual([]);
    expect((await world.timeline(id)).at(-1)!.summary).toMatch(/^Not triaged: /);
  });

  it('fails where trying again does not help, and tells whoever listens', async () => {
    const record = jest.spyOn(world.app.nest.get(DomainEvents), 'record');
    script(world.app, () => Promise.reject(unavailable('refused')));
    const id = await world.incident();
    await world.later(id);
    const run = await world.until(id, 'failed');
    const news = record.mock.calls.flatMap(([, ...recorded]) => recorded);
    record.mockRestore();
    expect(run.error).toEqual({ reason: 'refused', message: 'The provider says refused.' });
    expect(news.filter(({ type }) => type === TRIAGE_EVENTS.failed)).toEqual([
      {
        type: 'triage.failed',
        subject: { type: 'incident', id },
        payload: expect.objectContaining({ triage_id: run.triage_id, reason: 'refused' }),
      },
    ]);
    expect((await world.read(id)).status).toBe('open');
  });

  it('fails when its incident is deleted', async () => {
    script(world.app, () => Promise.reject(unavailable('overloaded', { mayHelpLater: true })));
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

describe('a triage run whose replica ends', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000' }, 2));
  let other: TriageWorld['replicas'][number];

  beforeAll(async () => {
    other = world.replicas[1]!;
    await world.stopQueueOf(world.app);
  });
  beforeEach(() => {
    script(other, async () => judgement({ model: 'the other' }));
    startOther();
  });
  afterEach(() => jest.restoreAllMocks());

  const startOther = () => other.nest.get(RunQueue).onApplicationBootstrap();
  /** A run that has ended three replicas. */
  const interruptedRun = async () => {
    await world.stopQueueOf(other);
    const id = await world.incident();
    await world.later(id);
    await world.database.query(
      `update triage_runs set status = 'running', fence = 4, lapses = 3, lease_until = now() - interval '1 s'
        where incident_id = $1`,
      [id],
    );
    return id;
  };

  /** As after kill -9: it shows no sign of life, and what it still does comes too late. */
  const kill = () => {
    jest.spyOn(world.app.nest.get(RunClaims), 'renew').mockResolvedValue(true);
  };

  it('in the middle is carried out by another replica, and once', async () => {
    kill();
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
    const lines = warn.mock.calls.filter(([, line]) => String(line).includes('begun anew'));
    expect(lines).toEqual([[{ triage: [run.triage_id] }, expect.any(String)]]);
    held.answer.resolve(judgement({ model: 'the dead' }));
    // It learns that the run is not its own any more, and answers with what the other one found.
    expect((await answer).body.data.model).toBe('the other');
    expect((await world.read(id)).verdict.model).toBe('the other');
    expect((await world.timeline(id)).filter(({ event }) => event === 'triaged')).toHaveLength(1);
  });

  it('again and again ends as failed, instead of ending one replica after the other', async () => {
    const id = await interruptedRun();
    startOther();
    expect((await world.until(id, 'failed')).error.reason).toBe('interrupted');
  });

  it('is begun again alone among the interrupted runs, beside runs that were not interrupted', async () => {
    await world.stopQueueOf(other);
    const ids = [await world.incident(), await world.incident(), await world.incident()];
    for (const id of ids) await world.later(id);
    await world.database.query(
      `update triage_runs set lapses = 1, fence = 1 where incident_id = any($1::uuid[])`,
      [ids.slice(0, 2)],
    );
    const held = heldModel();
    const asked = script(other, held.judge);
    startOther();
    const calls = (n: number) =>
      eventually(
        async () => asked.mock.calls.length,
        (seen) => seen >= n,
      );
    await calls(2);
    // The queue passes the second interrupted run again when it takes another one.
    ids.push(await world.incident());
    await world.later(ids.at(-1)!);
    await calls(3);
    expect(asked).toHaveBeenCalledTimes(3);
    held.answer.resolve(judgement());
    for (const id of ids) await world.until(id, 'completed');
  });

  it('in order is left to the others, and who waits is told so', async () => {
    const held = heldModel();
    script(world.app, held.judge);
    await world.stopQueueOf(other);
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
