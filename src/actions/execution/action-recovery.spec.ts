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

/** So many of one type, the oldest, and one of another, which has a connector of its own. */
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

  it('begins actions, the oldest first, as far as their connectors have places', async () => {
    await begin();
    const oldest = QUEUE.slice(0, MOST_PER_CONNECTOR).map(({ id }) => id);
    expect(begun()).toEqual([...oldest, 'other']);
  });

  it('counts a rollback against the connector of its original, not of its type', async () => {
    queue = [...ROLLBACKS, waiting('unblock', 'unblock_ip')];
    await begin();
    const oldest = ROLLBACKS.slice(0, MOST_PER_CONNECTOR).map(({ id }) => id);
    expect(begun()).toEqual([...oldest, 'unblock']);
  });

  it('begins a rollback while the connector of its type has no place', async () => {
    const unblocks = QUEUE.slice(0, 80).map(({ id }) => waiting(id, 'unblock_ip'));
    queue = [...unblocks, ROLLBACKS[0]!];
    await begin();
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 1);
    expect(begun()).toContain('rollback-0');
  });

  it('begins none twice, nor more than there are places, however often it looks', async () => {
    await begin();
    await begin();
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 1);
  });

  it('begins the next when a vendor has answered, though it is still doing what it was asked', async () => {
    run.mockImplementationOnce(async (action) => ({ ...action, phase: 'accepted' }));
    await begin();
    expect(lookAgain).toHaveBeenCalled();
    await begin();
    // The fake database does not know that the first one is claimed by now.
    expect(begun()).toHaveLength(MOST_PER_CONNECTOR + 2);
  });

  it('begins nothing while the kill switch is on', async () => {
    isActive = true;
    await begin();
    expect(begun()).toEqual([]);
  });

  it('lets others go before an action that cannot be begun', async () => {
    const spoilt = new Error('No such thing.');
    run.mockImplementationOnce(() => Promise.reject(spoilt));
    await begin();
    expect(report).toHaveBeenCalledWith(spoilt);
    expect(deferred).toEqual(['hanging-0']);
  });
});

describe('ActionRecovery', () => {
  it('names the loop that failed in the log', async () => {
    const fail = () => Promise.reject(new Error('Spoilt.'));
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
