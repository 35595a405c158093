import type { Action } from '../action.js';
import { inverseParameters, rollbackObstacle } from './approvals.service.js';

const action = (more: Partial<Action>): Action => ({
  id: 'x',
  action_type: 'block_ip',
  parameters: {},
  status: 'completed',
  requested_by: 'alice',
  requested_at: new Date(0),
  updated_at: new Date(0),
  ...more,
});

describe('a rollback', () => {
  it.each([
    ['is possible', { status: 'completed' }],
    ['is refused', { status: 'completed', rolled_back_by: 'y' }],
    ['is refused', { status: 'pending' }],
    ['is refused', { status: 'pending_approval' }],
    ['is refused', { status: 'rejected' }],
    ['is refused', { status: 'failed', result: { success: false, message: '', code: 'refused' } }],
    ['is refused', { status: 'failed', result: { success: false, message: '', code: 'timeout' } }],
    [
      'is possible',
      { status: 'failed', result: { success: false, message: '', code: 'outcome_unknown' } },
    ],
  ] as const)('%s if the action has %j', (answer, more) => {
    const obstacle = rollbackObstacle(action(more));
    expect(obstacle === undefined ? 'is possible' : 'is refused').toBe(answer);
  });

  it('has those parameters of the original action that its own type defines, and its own reason', () => {
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
