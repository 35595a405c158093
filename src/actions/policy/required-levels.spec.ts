import type { Settings } from '../../platform/config/settings.js';
import type { Action } from '../action.js';
import { RequiredLevels } from './required-levels.js';

const levels = new RequiredLevels({
  approvalLevels: {},
  approvalRaiseOnCritical: false,
  protectedTargets: { users: ['ceo@example.com'], hosts: ['dc-*'] },
} as unknown as Settings);

function action(type: string, parameters: object, approvalLevel?: string): Action {
  return { type, parameters, approvalLevel } as Action;
}

describe('whether an action may go to a target that its vendor found', () => {
  it.each([
    ['revoke_sessions', { user: '00uceo' }, 'analyst', 'ceo@example.com', false],
    ['revoke_sessions', { user: '00uceo' }, 'manager', 'ceo@example.com', true],
    ['revoke_sessions', { user: 'ceo' }, 'manager', 'CEO@example.com', true],
    // Of a rollback that ran at once the level is not in its row, but in what it names.
    ['enable_user', { user: 'ceo' }, undefined, 'ceo@example.com', true],
    ['enable_user', { user: '00uceo' }, undefined, 'ceo@example.com', false],
    ['revoke_sessions', { user: '00uada' }, 'analyst', 'ada@example.com', true],
    ['scan_host', { host_id: 'a1' }, undefined, 'dc-01', false],
    ['scan_host', { host_id: 'a1' }, undefined, 'laptop-7', true],
    ['scan_host', { host_id: 'a1' }, undefined, undefined, false],
    ['notify_user', { recipient: 'ceo@example.com' }, undefined, 'ceo@example.com', true],
  ] as const)('of %s with %j at the level %s, found as %s: %s', (type, given, level, name, may) => {
    expect(levels.mayTarget(action(type, given, level), name)).toBe(may);
  });

  it('takes a target without a name for any while some are protected, and for none while none is', () => {
    const open = new RequiredLevels({
      approvalLevels: {},
      approvalRaiseOnCritical: false,
      protectedTargets: {},
    } as unknown as Settings);
    expect(open.mayTarget(action('scan_host', { host_id: 'a1' }), undefined)).toBe(true);
  });
});
