import { ACTION_TYPES, actionType, actionTypes } from '../action-catalogue/action-types.js';
import { RequiredLevels } from './required-levels.js';
import type { Settings } from '../platform/config/settings.js';
import type { Severity } from '../incidents/incident.js';
import type { Action } from './action.js';

type Site = Pick<Settings, 'approvalLevels' | 'approvalRaiseOnCritical' | 'protectedTargets'>;

const levelsOf = (site: Partial<Site>): RequiredLevels => {
  const plain: Site = { approvalLevels: {}, approvalRaiseOnCritical: false, protectedTargets: {} };
  return new RequiredLevels({ ...plain, ...site } as Settings);
};
const protecting = (protectedTargets: Site['protectedTargets']) => levelsOf({ protectedTargets });
const plain = levelsOf({});

describe('the catalogue of action types', () => {
  it('describes every type once, and each inverse exists and takes the same parameters', () => {
    expect(actionTypes().map(({ name }) => name)).toEqual([...ACTION_TYPES]);
    for (const { inverse, target } of actionTypes()) {
      if (!inverse || !target) continue;
      expect(actionType(inverse).target?.parameter).toBe(target.parameter);
    }
  });
});

describe('the required level of an action', () => {
  it.each([
    ['quarantine_email', 'none'],
    ['revoke_sessions', 'analyst'],
    ['isolate_host', 'senior'],
    ['block_ip', 'analyst'],
    ['lookup_hash', 'none'],
  ] as const)('of type %s is %s by default', (type, level) => {
    expect(plain.forRequest({ action_type: type, parameters: {} })).toBe(level);
  });

  it('is the level that the site configured', () => {
    const site = levelsOf({
      approvalLevels: { isolate_host: 'none', quarantine_email: 'manager' },
    });
    expect(site.forRequest({ action_type: 'isolate_host', parameters: {} })).toBe('none');
    expect(site.forRequest({ action_type: 'quarantine_email', parameters: {} })).toBe('manager');
  });

  it('is one level higher for a critical incident if the site configured this, unless the level is none', () => {
    const site = levelsOf({ approvalRaiseOnCritical: true });
    const ask = (type: 'revoke_sessions' | 'isolate_host' | 'block_sender', severity: Severity) =>
      site.forRequest({ action_type: type, parameters: {}, incident: { severity } });
    expect(ask('revoke_sessions', 'critical')).toBe('senior');
    expect(ask('isolate_host', 'critical')).toBe('manager');
    expect(ask('block_sender', 'critical')).toBe('none');
    expect(ask('isolate_host', 'high')).toBe('senior');
  });

  it('is manager for a protected target, even if the site configured another level', () => {
    const site = levelsOf({
      protectedTargets: { hosts: ['dc-*'], domains: ['example.com'] },
      approvalLevels: { isolate_host: 'none' },
    });
    expect(site.forRequest({ action_type: 'isolate_host', parameters: { host_id: 'DC-01' } })).toBe(
      'manager',
    );
    expect(
      site.forRequest({ action_type: 'isolate_host', parameters: { host_id: 'laptop-7' } }),
    ).toBe('none');
    expect(
      site.forRequest({
        action_type: 'block_sender',
        parameters: { sender: 'ceo@Example.com' },
      }),
    ).toBe('manager');
    for (const sender of ['Bob <x@EXAMPLE.com>', '"<a@b>" <x@example.com> ', '<x@example.com>']) {
      expect(site.forRequest({ action_type: 'block_sender', parameters: { sender } })).toBe(
        'manager',
      );
    }
    expect(
      site.forRequest({ action_type: 'block_domain', parameters: { domain: 'example.com.' } }),
    ).toBe('manager');
  });

  it.each([
    ['lookup_ip', { ip: '10.0.0.1' }, 'manager'],
    ['lookup_ip', { ip: '10.1.0.1' }, 'none'],
    ['lookup_domain', { domain: 'Example.com' }, 'manager'],
    ['lookup_url', { url: 'https://user@EXAMPLE.com:8443/x?y#z' }, 'manager'],
    ['lookup_url', { url: 'http://10.0.0.1/' }, 'manager'],
    ['lookup_url', { url: 'http://0x0a000001/' }, 'manager'],
    ['lookup_url', { url: 'http://[::ffff:10.0.0.1]/' }, 'manager'],
    ['lookup_url', { url: 'https://evil.example/?for=example.com' }, 'none'],
    ['lookup_url', { url: 'no address' }, 'none'],
    ['lookup_hash', { hash: 'example.com' }, 'none'],
    // The recipient of a message is not a target.
    ['notify_user', { recipient: 'ceo@example.com' }, 'none'],
    ['notify_channel', { channel: 'dc-1' }, 'none'],
    ['quarantine_email', { message_id: 'm', recipient: 'ceo@example.com' }, 'none'],
  ] as const)('of %s with %j is %s', (type, parameters, level) => {
    const protectedTargets = {
      hosts: ['dc-*'],
      users: ['ceo*'],
      senders: ['ceo*'],
      domains: ['example.com'],
      ips: ['10.0.*'],
    };
    expect(protecting(protectedTargets).forRequest({ action_type: type, parameters })).toBe(level);
  });

  it.each([
    ['isolate_host', { host_id: '*' }, 'manager'],
    ['isolate_host', { host_id: 'd*-01' }, 'manager'],
    ['isolate_host', { host_id: 'd\uff0a' }, 'manager'],
    ['block_sender', { sender: '*@example.net' }, 'manager'],
    ['disable_user', { user: '*' }, 'senior'],
  ] as const)('of %s with %j, which can mean many targets, is %s', (type, parameters, level) => {
    const protectedTargets = { hosts: ['dc-01'], users: [], senders: ['ceo@example.com'] };
    expect(protecting(protectedTargets).forRequest({ action_type: type, parameters })).toBe(level);
  });

  it('can be raised but not lowered by the level of a playbook step', () => {
    expect(
      plain.forRequest({ action_type: 'isolate_host', parameters: {}, approval_level: 'analyst' }),
    ).toBe('senior');
    expect(
      plain.forRequest({ action_type: 'block_sender', parameters: {}, approval_level: 'manager' }),
    ).toBe('manager');
  });
});

const levels = protecting({ users: ['ceo@example.com'], hosts: ['dc-*'] });

function action(type: string, parameters: object, approvalLevel?: string): Action {
  return { action_type: type, parameters, approval_level: approvalLevel } as Action;
}

describe('the reason of a higher level', () => {
  it('names the protected target, and is absent for other targets', () => {
    expect(levels.reasonFor(action('isolate_host', { host_id: 'dc-01' }))).toBe(
      'dc-01 is a protected target',
    );
    expect(levels.reasonFor(action('isolate_host', { host_id: 'laptop-7' }))).toBeUndefined();
  });
});

describe('mayTarget', () => {
  it.each([
    ['revoke_sessions', { user: '00uceo' }, 'analyst', 'ceo@example.com', false],
    ['revoke_sessions', { user: '00uceo' }, 'manager', 'ceo@example.com', true],
    ['revoke_sessions', { user: 'ceo' }, 'manager', 'CEO@example.com', true],
    // A rollback without approval has no level in its row, so its level follows from its parameters.
    ['enable_user', { user: 'ceo' }, undefined, 'ceo@example.com', true],
    ['enable_user', { user: '00uceo' }, undefined, 'ceo@example.com', false],
    ['revoke_sessions', { user: '00uada' }, 'analyst', 'ada@example.com', true],
    ['scan_host', { host_id: 'a1' }, undefined, 'dc-01', false],
    ['scan_host', { host_id: 'a1' }, undefined, 'laptop-7', true],
    ['scan_host', { host_id: 'a1' }, undefined, undefined, false],
    ['notify_user', { recipient: 'ceo@example.com' }, undefined, 'ceo@example.com', true],
  ] as const)(
    'given %s with %j at the level %s and the target name %s from the vendor, returns %s',
    (type, given, level, name, may) => {
      expect(levels.mayTarget(action(type, given, level), name)).toBe(may);
    },
  );

  it('allows a target without a name if no target is protected', () => {
    expect(plain.mayTarget(action('scan_host', { host_id: 'a1' }), undefined)).toBe(true);
  });
});
