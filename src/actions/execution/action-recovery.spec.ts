import { Logger } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Action } from '../action.js';
import { type ActionConnectors, ConnectorPlaces, MOST_PER_CONNECTOR } from './action-connectors.js';
import type { ActionExecutor } from './action-executor.js';
import type { ClaimRepository, Except } from './claim.repository.js';
import type { Claims } from './claims.js';
import type { Settings } from '../../platform/config/settings.js';
import { ActionRecovery, type LapsedClaims, UnclaimedActions } from './action-recovery.js';

const waiting = (id: string, type: ActionTypeName, rollback_of?: string): Action =>
  ({ id, action_type: type, status: 'pending', sent: false, fence: 0, rollback_of }) as Action;

type Run = (action: Action) => Promise<Action>;

/** The 80 oldest actions have one connector, the newest has another. */
const QUEUE = [
  ...Array.from({ length: 80 }, (_, n) => waiting(`hanging-${n}`, 'block_ip')),
  waiting('other', 'lookup_ip'),
];

const ROLLBACKS = Array.from({ length: 80 }, (_, n) =>
  waiting(`rollback-${n}`, 'unblock_ip', `original-${n}`),
);

describe('UnclaimedActions', () => {
  let queue: readonly Action[];
  let run: jest.Mock<Promise<Action>, Parameters<Run>>;
  let deferred: string[];
  let isActive: boolean;
  let lookAgain: jest.Mock;
  let report: jest.Mock;
  let actions: UnclaimedActions;

  beforeEach(() => {
    queue = QUEUE;
    run = jest.fn<Promise<Action>, Parameters<Run>>(() => new Promise(() => undefined));
    deferred = [];
    isActive = false;
    lookAgain = jest.fn();
    report = jest.fn();
    const repository: Pick<ClaimRepository, 'unclaimed'> = {
      unclaimed: async (limit: number, { ids, types }: Except) =>
        queue
          .filter(
            ({ id, action_type, rollback_of }) =>
              !ids.includes(id) && (rollback_of || !types.includes(action_type)),
          )
          .slice(0, limit),
    };
    const connectors = {
      of: async ({ action_type, rollback_of }: Action) => ({
        identity: { id: rollback_of ? 'of the originals' : `for ${action_type}` },
      }),
    };
    const claims = { defer: async ({ id }: Action) => void deferred.push(id) };
    actions = new UnclaimedActions(
      { run } as unknown as ActionExecutor,
      claims as unknown as Claims,
      repository as ClaimRepository,
      connectors as unknown as ActionConnectors,
      new ConnectorPlaces(),
      { isActive: async () => isActive } as unknown as KillSwitch,
    );
  });

  const begun = () => run.mock.calls.map(([{ id }]) => id);
  const begin = () => actions.beginOldest({ lookAgain, report });

  it('begins the oldest actions whose connectors have a free place', async () => {
    await begin();
    const oldest = QUEUE.slice(0, MOST_PER_CONNECTOR).map(({ id }) => id);
    expect(begun()).toEqual([...oldest, 'other']);
  });

  it('counts a rollback for the connector of its original action', async () => {
    queue = [...ROLLBACKS, waiting('unblock', 'unblock_ip')];
    await begin();
    const oldest = ROLLBACKS.slice(0, MOST_PER_CONNECTOR).map(({ id }) => id);
    expect(begun()).toEqual([...oldest, 'unblock']);
  });

  it('begins a rollback while the connector of its type is busy', async () => {
    const unblocks = QUEUE.slice(0, 80).map(({ id }) => waiting(id, 'unblock_ip'));
    queue = [...unblocks, ROLLBACKS[0]!];
    await begin();
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 1);
    expect(begun()).toContain('rollback-0');
  });

  it('begins no action twice and no more actions than places in repeated searches', async () => {
    await begin();
    await begin();
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 1);
  });

  it('begins the next action after the vendor has accepted the first', async () => {
    run.mockImplementationOnce(async (action) => ({ ...action, phase: 'accepted' }));
    await begin();
    expect(lookAgain).toHaveBeenCalled();
    await begin();
    // The fake database does not know that the first action is claimed.
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 2);
  });

  it('begins nothing while the kill switch is on', async () => {
    isActive = true;
    await begin();
    expect(begun()).toEqual([]);
  });

  it('reports and defers an action that cannot begin', async () => {
    const failure = new Error('Unexpected error.');
    run.mockImplementationOnce(() => Promise.reject(failure));
    await begin();
    expect(report).toHaveBeenCalledWith(failure);
    expect(deferred).toEqual(['hanging-0']);
  });
});

describe('ActionRecovery', () => {
  it('names the failed loop in the log', async () => {
    const fail = () => Promise.reject(new Error('Unexpected error.'));
    const lines = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const recovery = new ActionRecovery(
      { settleOldest: fail } as unknown as LapsedClaims,
      { beginOldest: fail } as unknown as UnclaimedActions,
      new ConnectorPlaces(),
      {} as KillSwitch,
      { actionLeaseMs: 60_000 } as Settings,
    );
    recovery.onApplicationBootstrap();
    await recovery.beforeApplicationShutdown();
    expect(lines.mock.calls.map(([, line]) => line as string).sort()).toEqual([
      'Beginning unclaimed actions failed.',
      'Settling lapsed claims of actions failed.',
    ]);
    lines.mockRestore();
  });
});
