import { loadSettings, SettingError } from './load-settings.js';

describe('the policy settings', () => {
  it('are read from JSON', () => {
    const settings = loadSettings({
      APPROVAL_LEVELS: '{"isolate_host": "manager", "block_ip": "none"}',
      PROTECTED_TARGETS: '{"hosts": ["dc-*"], "ips": []}',
    });
    expect(settings.approvalLevels).toEqual({ isolate_host: 'manager', block_ip: 'none' });
    expect(settings.protectedTargets).toEqual({ hosts: ['dc-*'], ips: [] });
  });

  it.each([
    ['APPROVAL_LEVELS', 'senior'],
    ['APPROVAL_LEVELS', '[]'],
    ['APPROVAL_LEVELS', 'null'],
    ['APPROVAL_LEVELS', '{"launch_rocket": "none"}'],
    ['APPROVAL_LEVELS', '{"isolate_host": "admin"}'],
    ['APPROVAL_LEVELS', '{"isolate_host": null}'],
    ['PROTECTED_TARGETS', '{"host": ["dc-*"]}'],
    ['PROTECTED_TARGETS', '{"hosts": "dc-*"}'],
    ['PROTECTED_TARGETS', '{"hosts": [""]}'],
    ['PROTECTED_TARGETS', '{"hosts": [7]}'],
    ['APPROVAL_FOUR_EYES', 'yes'],
    ['APPROVAL_TTL_MINUTES', '-1'],
    ['ACTION_LEASE_MS', '0'],
    ['ACTION_WAIT_MS', 'soon'],
  ])('stop the start when %s is %s, in one line that names it', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
  });
});
