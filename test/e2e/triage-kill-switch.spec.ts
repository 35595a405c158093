import { Work } from '../../src/platform/work/work.js';
import { heldModel, judgement, script, TriageWorld } from '../support/triage/triage-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

describe('triage while the kill switch is on', () => {
  describe('with an external model', () => {
    const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000' }));

    afterEach(() => world.turnOff());

    /** Model that waits until the test resolves the promise, and then sends a request. */
    const sendingLate = () => {
      const held = heldModel();
      const sent = jest.fn();
      script(world.app, async (given, { gate, ...rest }) => {
        await held.judge(given, { gate, ...rest });
        await gate.send(async ({ leave }) => {
          await leave();
          sent();
        });
        return judgement();
      });
      return { ...held, sent };
    };

    it('creates no run, but still returns a run that was completed before', async () => {
      const asked = script(world.app, async () => judgement());
      const [id, done] = [await world.incident(), await world.incident()];
      await world.triage(done);
      await world.turnOn();
      for (const answer of [await world.triage(id), await world.later(id)]) {
        expect(answer.status).toBe(409);
        expect(answer.body.error).toMatchObject({
          code: 'kill_switch_active',
          details: { reason: 'a test' },
        });
      }
      expect((await world.triage(done)).status).toBe(200);
      expect(asked).toHaveBeenCalledTimes(1);
      expect(await world.runs(id)).toEqual([]);
    });

    it('sends no further request of a running run, and fails the run', async () => {
      const { begun, answer, sent } = sendingLate();
      const id = await world.incident();
      const waiting = world.triage(id);
      await begun;
      await world.turnOn();
      answer.resolve(judgement());
      expect((await waiting).body.error.code).toBe('kill_switch_active');
      expect(sent).not.toHaveBeenCalled();
      expect((await world.runs(id))[0].error.reason).toBe('kill_switch');
      expect(await world.read(id)).toMatchObject({ status: 'open', recommended_actions: [] });
    });

    it('holds a run in the background, which continues afterwards', async () => {
      const asked = script(world.app, async () => judgement());
      await world.turnOn();
      const id = await world.incident();
      await world.wantTriage(id);
      await eventually(async () => (await world.held()) === 1);
      const looks = jest.spyOn(world.app.nest.get(Work)['worker'] as never, 'claimBehindGates');
      await eventually(() => looks.mock.calls.length > 2);
      looks.mockRestore();
      expect(asked).not.toHaveBeenCalled();
      await world.turnOff();
      await world.until(id, 'completed');
      expect(await world.held()).toBe(0);
    });

    it('returns a background run in progress to the queue', async () => {
      const { begun, answer } = sendingLate();
      const id = await world.incident();
      await world.later(id);
      await begun;
      expect((await world.turnOn()).body.data.in_flight).toBe(1);
      answer.resolve(judgement());
      expect(await world.until(id, 'queued')).toMatchObject({ failures: 0 });
      await world.turnOff();
      await world.until(id, 'completed');
    });

    it('fails discarded runs, with the reason in the timeline', async () => {
      await world.turnOn();
      const ids = [await world.incident(), await world.incident()];
      for (const id of ids) await world.wantTriage(id, { requested_by: 'webhook:siem' });
      for (const id of ids) await world.until(id, 'queued');
      expect((await world.turnOff('discard')).body.data.discarded.triage_runs).toBe(2);
      for (const id of ids) {
        const [run] = await world.runs(id);
        expect(run).toMatchObject({ status: 'failed', error: { reason: 'discarded' } });
        const subject = { type: 'triage', id: run.triage_id };
        expect((await world.timeline(id)).slice(1)).toMatchObject([
          { event: 'triage_requested', actor: 'webhook:siem', subject },
          {
            event: 'triage_failed',
            actor: 'webhook:siem',
            subject,
            summary: expect.stringMatching(/^Triage failed: Discarded by key:manager/),
          },
        ]);
      }
    });
  });

  describe('with rules', () => {
    const world = useStarted(() => TriageWorld.start({ TRIAGE_PROVIDER: 'rules' }));

    beforeAll(async () => {
      await world.turnOn();
    });

    it('completes requests, background runs and runs of sources, and holds no run', async () => {
      const [id, later, wanted] = [
        await world.incident(),
        await world.incident(),
        await world.incident(),
      ];
      const answer = await world.triage(id);
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({ status: 'completed', applied: true });
      expect((await world.later(later)).status).toBe(202);
      await world.wantTriage(wanted);
      for (const one of [later, wanted]) await world.until(one, 'completed');
      expect(await world.held()).toBe(0);
      expect((await world.turnOn()).body.data.in_flight).toBe(0);
    });
  });
});
