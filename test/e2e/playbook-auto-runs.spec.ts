import { INCIDENT_EVENTS } from '../../src/incidents/change-records.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { eventually } from '../support/jobs/eventually.js';
import {
  chances,
  generatedSteps,
  RAW_DATA,
  VARIABLES,
} from '../support/playbooks/generated-playbook.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

/** Does not include the type `other`, which only quiet() uses. */
const AUTO = { auto_run: true, triggers: { incident_types: ['phishing', 'malware'] } };
/** Number of generated playbooks. */
const GENERATED = 30;
const SURE = { classification: 'malicious', confidence: 0.95, category: 'phishing' };

describe('an automatic playbook', () => {
  const world = useStarted(() => PlaybookWorld.start({ TRIAGE_PROVIDER: 'rules' }, 2));

  afterEach(async () => {
    world.actions.vendor.forget();
    await world.actions.database.query(`update playbooks set deleted_at = now()`);
  });

  const block = (more: object = {}) =>
    step('block', 'block_sender', { parameters: { sender: 'a@example.net' }, ...more });
  const triage = async (id: string, verdict: object = SURE): Promise<void> => {
    expect((await world.clients.analyst.put(`/api/incidents/${id}`, { verdict })).status).toBe(200);
  };
  const runsOf = (playbook: string, n = 1) =>
    eventually(
      () => world.runsOf(playbook),
      (runs) => runs.length >= n,
    );
  const triagedAndRan = async (playbook: string, verdict: object = SURE): Promise<ShownRun> => {
    await triage(await world.incident(), verdict);
    const [run] = await runsOf(playbook);
    return await world.until(playbook, run!.run_id, ({ status }) => status !== 'running');
  };
  /** Waits until all earlier events are handled. */
  const quiet = async () => {
    const last = await world.playbook([], { ...AUTO, triggers: { incident_types: ['other'] } });
    await triage(await world.incident({ incident_type: 'other' }));
    await runsOf(last);
  };

  it('starts after a manual triage of a matching incident, on behalf of the author of the verdict', async () => {
    const playbook = await world.playbook([block()], AUTO);
    const run = await triagedAndRan(playbook);
    expect(run).toMatchObject({ status: 'completed', automatic: true, requested_by: 'system' });
    const action = await world.actions.get(run.steps[0]!.action_id!);
    expect(action).toMatchObject({ requested_by: `playbook:${playbook}`, executed_by: 'system' });
    expect(action).toMatchObject({ on_behalf_of: world.actions.names.analyst });
  });

  it('starts only if it is enabled, for its types, severities and sources', async () => {
    const here = { incident_type: 'malware', severity: 'high', source: 'edr' };
    const triggers = (more: object) => ({ ...AUTO, triggers: more });
    const all = [
      await world.playbook([], triggers({ incident_types: ['malware'], severities: ['high'] })),
      await world.playbook([], triggers({ sources: ['edr', 'siem'] })),
      await world.playbook([], triggers({ incident_types: ['phishing'] })),
      await world.playbook([], triggers({ severities: ['low'], sources: ['edr'] })),
      await world.playbook([], { ...AUTO, enabled: false }),
      await world.playbook([]),
    ];
    await triage(await world.incident({ ...here, raw_data: {} }));
    await runsOf(all[1]!);
    await quiet();
    const counts = await Promise.all(all.map(async (name) => (await world.runsOf(name)).length));
    expect(counts).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it('starts once per incident and version, even if a triage or its event is repeated', async () => {
    const playbook = await world.playbook([block()], AUTO);
    const id = await world.incident();
    await Promise.all([triage(id), triage(id, { ...SURE, category: 'bec' })]);
    const event = {
      type: INCIDENT_EVENTS.triaged,
      subject: { type: 'incident', id },
      payload: {},
    };
    for (const { nest } of world.actions.replicas) {
      await nest.get(Transactions).run(async (tx) => {
        await nest.get(DomainEvents).record(tx, event, event, event);
      });
    }
    const [run] = await runsOf(playbook);
    await quiet();
    await world.until(playbook, run!.run_id, 'completed');
    expect(await world.runsOf(playbook)).toHaveLength(1);
    expect(world.actions.calls.map(({ path }) => path)).toEqual(['/block_sender']);
    await world.clients.manager.put(`/api/playbooks/${playbook}`, { description: 'Changed.' });
    await triage(id, { ...SURE, confidence: 0.99 });
    expect((await runsOf(playbook, 2))[0]).toMatchObject({ playbook_version: 2 });
  });

  it('starts again only after a worse verdict', async () => {
    const condition = 'has(verdict.classification) && verdict.classification == "malicious"';
    const playbook = await world.playbook([step('take', 'quarantine_email', { condition })], AUTO);
    const taken = () =>
      world.actions.calls.filter(({ path }) => path === '/quarantine_email').length;
    const id = await world.incident();
    const judge = (classification: string) => triage(id, { classification });
    await judge('inconclusive');
    await runsOf(playbook, 1);
    for (const calmer of ['benign', 'inconclusive']) await judge(calmer);
    await judge('suspicious');
    await runsOf(playbook, 2);
    expect(taken()).toBe(0);
    await Promise.all([judge('malicious'), judge('malicious')]);
    const [last] = await runsOf(playbook, 3);
    await world.untilEnded(playbook, last!.run_id);
    await judge('suspicious');
    await judge('malicious');
    await quiet();
    expect(await world.runsOf(playbook)).toHaveLength(3);
    expect(taken()).toBe(1);
  });

  it('does not start for a resolved or deleted incident', async () => {
    const playbook = await world.playbook([block()], AUTO);
    const [resolved, deleted] = [await world.incident(), await world.incident()];
    await world.clients.analyst.put(`/api/incidents/${resolved}`, {
      status: 'resolved',
      resolution: 'Nothing.',
      verdict: SURE,
    });
    await world.clients.admin.delete(`/api/incidents/${deleted}`);
    const { nest } = world.actions.app;
    await nest.get(Transactions).run(async (tx) => {
      const subject = { type: 'incident', id: deleted };
      const event = { type: INCIDENT_EVENTS.triaged, subject, payload: {} };
      await nest.get(DomainEvents).record(tx, event);
    });
    await quiet();
    expect(await world.runsOf(playbook)).toEqual([]);
  });

  describe('whose run was cancelled before its first action', () => {
    const close = (id: string) =>
      put(id, { status: 'resolved', resolution: 'No.', pending: 'withdraw' });
    const put = async (id: string, body: object): Promise<void> => {
      expect((await world.clients.analyst.put(`/api/incidents/${id}`, body)).status).toBe(200);
    };

    it.each([
      ['while it waited for the kill switch', block()],
      ['while its first action waited for approval', block({ approval_level: 'manager' })],
    ])('starts again if the incident was closed %s, and was then reopened', async (_, first) => {
      const playbook = await world.playbook([first], AUTO);
      const id = await world.incident();
      const holds = first.approval_level === undefined;
      if (holds) await world.actions.turnOn();
      await triage(id);
      const [run] = await runsOf(playbook);
      if (!holds) await world.until(playbook, run!.run_id, 'waiting_approval');
      await close(id);
      expect(await world.get(playbook, run!.run_id)).toMatchObject({ status: 'cancelled' });
      if (holds) await world.actions.turnOff();
      await put(id, { status: 'open', reopen: true });
      await triage(id);
      const [again] = await runsOf(playbook, 2);
      await world.untilEnded(playbook, again!.run_id);
      await triage(id);
      await quiet();
      expect((await world.runsOf(playbook)).map(({ status }) => status)).toEqual([
        'completed',
        'cancelled',
      ]);
    });

    it('does not start again with the same verdict if a person cancelled the run', async () => {
      const playbook = await world.playbook([block({ approval_level: 'manager' })], AUTO);
      const id = await world.incident();
      await triage(id);
      const [run] = await runsOf(playbook);
      await world.until(playbook, run!.run_id, 'waiting_approval');
      await world.cancel(playbook, run!.run_id);
      await triage(id);
      await quiet();
      expect(await world.runsOf(playbook)).toHaveLength(1);
    });

    it('does not start again if an action of the run had begun', async () => {
      const playbook = await world.playbook(
        [block(), step('wait', 'lookup_ip', { approval_level: 'manager' })],
        AUTO,
      );
      const id = await world.incident();
      await triage(id);
      const [run] = await runsOf(playbook);
      await world.until(playbook, run!.run_id, 'waiting_approval');
      await close(id);
      await put(id, { status: 'open', reopen: true });
      await triage(id);
      await quiet();
      expect(await world.runsOf(playbook)).toHaveLength(1);
    });
  });

  describe('with a step whose condition reads the verdict', () => {
    const sure = block({ condition: 'verdict.confidence > 0.9' });

    it('needs an analyst for that step', async () => {
      const run = await triagedAndRan(await world.playbook([sure], AUTO));
      expect(run).toMatchObject({ status: 'waiting_approval' });
      expect(run.steps[0]).toMatchObject({ approval_level: 'analyst' });
      expect(world.actions.calls).toEqual([]);
    });

    it('needs no approval if a manager trusts the verdict', async () => {
      const playbook = await world.playbook([sure], { ...AUTO, trust_verdict: true });
      expect(await triagedAndRan(playbook)).toMatchObject({ status: 'completed' });
    });

    it('uses the verdict that the incident had at the start of the run', async () => {
      const playbook = await world.playbook(
        [
          step('isolate', 'isolate_host'),
          block({ condition: 'verdict.classification == "malicious"' }),
        ],
        AUTO,
      );
      const id = await world.incident();
      await triage(id);
      const [run] = await runsOf(playbook);
      const waiting = await world.until(playbook, run!.run_id, 'waiting_approval');
      await triage(id, { classification: 'benign' });
      await world.approve(waiting.steps[0]!.action_id!);
      const ended = await world.until(playbook, run!.run_id, ({ steps }) => {
        return steps[1]!.status === 'waiting_approval';
      });
      expect(statuses(ended)).toEqual(['completed', 'waiting_approval']);
    });

    const condition = 'verdict.classification == "malicious" ? false : 1 / 0 == 1';
    const act = step('act', 'block_sender');

    it.each([
      ['malicious', ['skipped', 'waiting_approval'], 'waiting_approval'],
      ['benign', ['failed', 'pending'], 'failed'],
    ])(
      'needs an analyst after a step that ends the run unless the verdict is %s',
      async (...expected) => {
        const [classification, steps, status] = expected;
        const playbook = await world.playbook(
          [step('gate', 'lookup_ip', { condition }), act],
          AUTO,
        );
        const run = await triagedAndRan(playbook, { classification });
        expect([...statuses(run), run.status]).toEqual([...steps, status]);
        expect(world.actions.calls).toEqual([]);
        if (status === 'failed') return;
        expect(run.steps[1]).toMatchObject({ approval_level: 'analyst' });
        await world.approve(run.steps[1]!.action_id!, world.clients.analyst);
        await world.until(playbook, run.run_id, 'completed');
        expect(world.actions.calls.map(({ path }) => path)).toEqual(['/block_sender']);
      },
    );

    it('needs no approval after a step that never ends the run', async () => {
      const gate = step('gate', 'lookup_ip', { condition, on_error: 'continue' });
      const playbook = await world.playbook([gate, act], AUTO);
      const run = await triagedAndRan(playbook, { classification: 'benign' });
      expect(statuses(run)).toEqual(['failed', 'completed']);
    });

    it(`needs the level that a dry run shows, in ${GENERATED} generated playbooks`, async () => {
      let differing = 0;
      for (let seed = 1; seed <= GENERATED; seed += 1) {
        const source = `tool-${seed}`;
        const playbook = await world.playbook(generatedSteps(chances(seed)), {
          variables: VARIABLES,
          auto_run: true,
          triggers: { sources: [source] },
        });
        const incident_id = await world.incident({ source, raw_data: RAW_DATA });
        await triage(incident_id, { classification: 'malicious' });
        const [{ run_id }] = (await runsOf(playbook)) as [ShownRun];
        const run = await world.untilEnded(playbook, run_id);
        const { body } = await world.run(playbook, { incident_id, dry_run: true });
        for (const [at, { name, action_id, approval_level }] of run.steps.entries()) {
          const shown = (body.data as ShownRun).steps[at]!;
          if (action_id === undefined) continue;
          const level = shown.automatic_approval_level;
          expect({ seed, name, level: approval_level }).toEqual({ seed, name, level });
          if (shown.approval_level !== level) differing += 1;
        }
      }
      expect(differing).toBeGreaterThan(0);
    });
  });
});
