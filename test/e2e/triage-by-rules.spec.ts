import { INCIDENT_EVENTS } from '../../src/incidents/change-records.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { TriageModel } from '../../src/triage/model/triage-model.port.js';
import { RunEndings } from '../../src/triage/runs/run-endings.js';
import { TriageWorld } from '../support/triage/triage-world.js';
import { useStarted } from '../support/use-started.js';

describe('triage by rules', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_PROVIDER: 'rules' }));

  afterEach(() => {
    jest.restoreAllMocks();
    world.startWorkOf(world.app);
  });

  const incidents = async (count: number) => {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await world.incident());
    return ids;
  };
  const wantAll = (ids: readonly string[]) =>
    world.app.nest.get(Transactions).run((tx) =>
      world.app.nest.get(DomainEvents).record(
        tx,
        ...ids.map((id) => {
          const subject = { type: 'incident', id };
          return { type: INCIDENT_EVENTS.triageWanted, subject, payload: {} };
        }),
      ),
    );
  const judged = () => jest.spyOn(world.app.nest.get(TriageModel), 'judge');
  const waitingWork = () =>
    world.database.query<object[]>(`select from work where kind = 'triage'`);

  it('judges a burst of incidents in one transaction, with one audit record each', async () => {
    const ids = await incidents(40);
    const ends = jest.spyOn(world.app.nest.get(RunEndings), 'write');
    await wantAll(ids);
    for (const id of ids) await world.until(id, 'completed');
    expect(ends.mock.calls.map(([, outcomes]) => outcomes.length)).toEqual([40]);
    const records = await world.database.query<{ n: number }[]>(
      `select count(*)::int as n from audit_log where action in ('triage.requested', 'triage.completed')
        and subject_id in (select id::text from triage_runs where incident_id = any($1::uuid[])) group by subject_id`,
      [ids],
    );
    expect(records).toEqual(ids.map(() => ({ n: 2 })));
  });

  it('fails only the run whose judgement throws, and no other run of its batch', async () => {
    const [broken, ...others] = await incidents(3);
    const judge = world.app.nest.get(TriageModel).judge.bind(world.app.nest.get(TriageModel));
    judged().mockImplementation(async (given, judging) => {
      if (given.id === broken) throw new TypeError('secret detail');
      return await judge(given, judging);
    });
    await wantAll([broken!, ...others]);
    expect((await world.until(broken!, 'failed')).error.reason).toBe('internal_error');
    for (const id of others) await world.until(id, 'completed');
    expect((await world.triage((await incidents(1))[0]!)).status).toBe(200);
  });

  it('returns 500 if the judgement throws, and leaves no run', async () => {
    const [id] = await incidents(1);
    judged().mockRejectedValue(new TypeError('secret detail'));
    const answer = await world.triage(id!);
    expect([answer.status, answer.text.includes('secret detail')]).toEqual([500, false]);
    expect(await world.runs(id!)).toEqual([]);
  });

  it('repeats the judgement if the incident changes during the triage', async () => {
    const [id] = await incidents(1);
    const judge = world.app.nest.get(TriageModel).judge.bind(world.app.nest.get(TriageModel));
    const calls = judged().mockImplementation(async (given, judging) => {
      if (calls.mock.calls.length === 1) await world.update(id!, { severity: 'critical' });
      return await judge(given, judging);
    });
    expect((await world.triage(id!)).body.data).toMatchObject({ applied: true });
    expect(calls.mock.calls.map(([{ severity }]) => severity)).toEqual(['medium', 'critical']);
    expect(await world.read(id!)).toMatchObject({ severity: 'critical', status: 'triaged' });
  });

  it('answers simultaneous requests with the same run', async () => {
    const [id] = await incidents(1);
    const answers = await Promise.all([1, 2, 3, 4].map(() => world.triage(id!)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const [run] = await world.runs(id!);
    for (const { body } of answers) {
      expect(body.data).toMatchObject({ triage_id: run.triage_id, points: expect.any(Array) });
    }
    expect(await world.runs(id!)).toHaveLength(1);
  });

  it('completes a waiting run when a person requests triage, and removes its row in the table work', async () => {
    await world.stopWorkOf(world.app);
    const [id] = await incidents(1);
    const { triage_id } = (await world.later(id!)).body.data;
    expect(await waitingWork()).toHaveLength(1);
    expect((await world.triage(id!)).body.data).toMatchObject({ triage_id, status: 'completed' });
    expect(await waitingWork()).toEqual([]);
  });

  it('fails a waiting run when its incident is deleted', async () => {
    await world.stopWorkOf(world.app);
    const [id] = await incidents(1);
    await world.later(id!);
    await world.clients.admin.delete(`/api/incidents/${id}`);
    const [row] = await world.database.query('select * from triage_runs where incident_id = $1', [
      id,
    ]);
    expect(row).toMatchObject({ status: 'failed', error: { reason: 'incident_deleted' } });
    expect(await waitingWork()).toEqual([]);
  });

  it('records that a replica died during the run, and fails the run after four such replicas', async () => {
    await world.stopWorkOf(world.app);
    const ids = await incidents(2);
    for (const id of ids) await world.later(id);
    const attempts = new Map(ids.map((id, place) => [id, place === 0 ? 1 : 4]));
    for (const [id, count] of attempts) {
      await world.database.query(
        `update work set worker = gen_random_uuid(), fence = $2, attempts = $2
          where ref in (select id from triage_runs where incident_id = $1)`,
        [id, count],
      );
    }
    world.startWorkOf(world.app);
    const completed = await world.until(ids[0]!, 'completed');
    expect(completed.notes).toEqual([expect.stringContaining('ended in the middle')]);
    expect((await world.until(ids[1]!, 'failed')).error.reason).toBe('interrupted');
  });
});
