import type { Action } from '../action.js';
import { inverseParameters, rollbackObstacle } from './rollback.service.js';

const action = (more: Partial<Action>): Action => ({
  id: 'x',
  type: 'block_ip',
  parameters: {},
  status: 'completed',
  requestedBy: 'alice',
  requestedAt: new Date(0),
  sent: true,
  fence: 1,
  ...more,
});

describe('rolling back', () => {
  it.each([
    [{ status: 'completed' }, true],
    [{ status: 'completed', rolledBackBy: 'y' }, false],
    [{ status: 'pending' }, false],
    [{ status: 'pending_approval' }, false],
    [{ status: 'rejected' }, false],
    [{ status: 'failed', result: { success: false, message: '', code: 'refused' } }, false],
    [{ status: 'failed', result: { success: false, message: '', code: 'timeout' } }, false],
    [{ status: 'failed', result: { success: false, message: '', code: 'outcome_unknown' } }, true],
  ] as const)('of %j is possible: %s', (more, possible) => {
    expect(rollbackObstacle(action(more)) === undefined).toBe(possible);
  });

  it('takes from the original what its inverse takes, and a reason of its own', () => {
    const original = { ip: '203.0.113.9', duration_minutes: 60, reason: 'an attack' };
    expect(inverseParameters('unblock_ip', original, 'a false alarm')).toEqual({
      ip: '203.0.113.9',
      reason: 'a false alarm',
    });
    expect(inverseParameters('release_email', { message_id: 'm', recipient: 'r' }, 'x')).toEqual({
      message_id: 'm',
      recipient: 'r',
      reason: 'x',
    });
  });
});
