import type { IncidentsService } from '../../incidents/incidents.service.js';
import type { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import type { Settings } from '../../platform/config/settings.js';
import { ConnectionLostError } from '../../platform/database/sqlstate.js';
import type { Transactions } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';
import type { ActionRecorder } from '../action-records.js';
import type { ActionsRepository } from '../actions.repository.js';
import { type ActionEndings, Claims, Failpoints } from './claims.js';
import type { ClaimRepository } from './claim.repository.js';
import { ClaimLostError } from './lease-keeper.js';

const ACTION = { id: 'a', status: 'pending', sent: false, fence: 1 } as Action;

describe('Claims', () => {
  const repository = {
    claim: jest.fn<Promise<Action | undefined>, []>(),
    takeOver: jest.fn(),
    requeue: jest.fn(),
    release: jest.fn<Promise<Action | undefined>, []>(),
  };
  const permit = {};
  const claims = new Claims(
    { run: (work: (tx: unknown) => unknown) => work({}) } as unknown as Transactions,
    { claimPermit: async () => permit } as unknown as KillSwitch,
    {} as IncidentsService,
    repository as unknown as ClaimRepository,
    {} as ActionEndings,
    {} as ActionsRepository,
    {} as ActionRecorder,
    new Clock(),
    { actionLeaseMs: 60_000, actionDeadlineMs: 60_000 } as Settings,
    new Failpoints(),
  );

  beforeEach(() => jest.resetAllMocks());

  it('returns the claimed action and its permit', async () => {
    repository.claim.mockResolvedValue({ ...ACTION, fence: 2 });
    expect(await claims.claim(ACTION, 'vendor')).toEqual({
      action: { ...ACTION, fence: 2 },
      permit,
    });
  });

  it('returns undefined if another run has claimed the action', async () => {
    repository.claim.mockResolvedValue(undefined);
    expect(await claims.claim(ACTION, 'vendor')).toBeUndefined();
  });

  it('sends no statement if no claim has lapsed', async () => {
    expect(await claims.takeOver([])).toEqual([]);
    expect(await claims.requeue([])).toBe(0);
    expect(repository.takeOver).not.toHaveBeenCalled();
    expect(repository.requeue).not.toHaveBeenCalled();
  });

  it('throws ClaimLostError if another run has the claim that it releases', async () => {
    repository.release.mockResolvedValue(undefined);
    await expect(claims.release(ACTION, false)).rejects.toThrow(ClaimLostError);
  });

  it('retries after a pause while the database is down', async () => {
    repository.release
      .mockRejectedValueOnce(new ConnectionLostError('away'))
      .mockResolvedValueOnce(ACTION);
    let waited = false;
    setTimeout(() => (waited = true), 300);
    expect(await claims.release(ACTION, false)).toBe(ACTION);
    expect(waited).toBe(true);
  });

  it('does not retry if the database rejects the write', async () => {
    repository.release.mockRejectedValue(new Error('refused'));
    await expect(claims.release(ACTION, false)).rejects.toThrow('refused');
    expect(repository.release).toHaveBeenCalledTimes(1);
  });
});
