import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { Claims } from '../../src/actions/execution/claims.js';
import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import { insertAction } from '../support/actions/action-table.js';
import { ActionWorld, crashAt, revive } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';

const LEASE_MS = 700;
const WAIT_MS = 300;

describe('the recovery of actions', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    const settings = { ACTION_LEASE_MS: String(LEASE_MS), ACTION_WAIT_MS: String(WAIT_MS) };
    world = await ActionWorld.start(settings, 2);
    // A test that hangs a run would otherwise hang the end of the suite, too.
    world.app.nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
    // The dead look after nobody.
    await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
  });
  afterEach(() => {
    revive(world.app);
    world.vendor.forget();
  });
  afterAll(() => world?.close());

  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => ['completed', 'failed', 'rejected'].includes(status!),
    );

  const { claimed, sending, answered, finished } = FAILPOINT;

  it.each([
    ['before anything is sent', claimed, 'block_sender', 'failed', 'interrupted', 0],
    ['before anything is sent', claimed, 'quarantine_email', 'completed', undefined, 1],
    ['when something may have been sent', sending, 'block_sender', 'failed', 'outcome_unknown', 0],
    ['when something may have been sent', sending, 'quarantine_email', 'completed', undefined, 1],
    ['after the vendor answered', answered, 'block_sender', 'failed', 'outcome_unknown', 1],
    // The vendor was told to take it twice as once: the connector says so.
    ['after the vendor answered', answered, 'quarantine_email', 'completed', undefined, 2],
    ['after the outcome was written down', finished, 'block_sender', 'completed', undefined, 1],
  ] as const)(
    'settles an action whose replica dies %s (place %i, %s) as %s %s',
    async (_, point, type, status, code, effects) => {
      const { crashed } = crashAt(world.app, point);
      const { body } = await world.execute(type);
      await crashed;
      const { action_id: id } = body.data;
      const action = await ended(id);
      expect(action).toMatchObject({ status, result: { success: status === 'completed' } });
      expect(action.result!.code).toBe(code);
      expect(world.vendor.effectsOf(id)).toBe(effects);
    },
  );

  it('lets no run that was taken for dead write its outcome over that of another', async () => {
    const claims = world.app.nest.get(Claims);
    const renew = claims.renew.bind(claims);
    claims.renew = () => Promise.resolve(true);
    try {
      world.vendor.answerAfter(LEASE_MS * 3);
      const { body } = await world.execute('block_sender');
      const { action_id: id } = body.data;
      const action = await ended(id);
      expect(action.result!.code).toBe('outcome_unknown');
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS * 3));
      expect(await world.get(id)).toEqual(action);
    } finally {
      claims.renew = renew;
    }
  });

  it('leaves a slow call alone, whose lease is renewed', async () => {
    world.vendor.answerAfter(LEASE_MS * 3);
    const answer = await world.execute('quarantine_email');
    expect(answer.status).toBe(202);
    expect(answer.body.data).toEqual({ action_id: expect.any(String), status: 'pending' });
    const { action_id: id } = answer.body.data;
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(world.calls).toHaveLength(1);
  });

  it('recovers many at once, each once', async () => {
    const waiting = { phase: null, fence: 0, leaseMs: 0 };
    const inserted = Array.from({ length: 30 }, () => insertAction(world.database, waiting));
    const ids = (await Promise.all(inserted)).map((id) => `act-${id}`);
    for (const id of ids) expect((await ended(id)).status).toBe('completed');
    for (const id of ids) expect(world.vendor.effectsOf(id)).toBe(1);
  });
});
