import { loadSettings, SettingError } from './load-settings.js';

describe('loading the policy settings', () => {
  it('reads them from JSON', () => {
    const settings = loadSettings({
      APPROVAL_LEVELS: '{"isolate_host": "manager", "block_ip": "none"}',
      PROTECTED_TARGETS: '{"hosts": ["dc-*"], "ips": []}',
    });
    expect(settings.approvalLevels).toEqual({ isolate_host: 'manager', block_ip: 'none' });
    expect(settings.protectedTargets).toEqual({ hosts: ['dc-*'], ips: [] });
  });

  it.each([
    { ips: ['10.0.0.0/8', '2001:db8::/32', '10.0.*', '2001:db8:*', '::ffff:10.0.0.1', '*'] },
    { ips: ['*.5', '*10*', '10.*.0.1', '10.0.0.25*'] },
    {
      domains: ['example.com', '*.example.com', '.example.com', 'bücher.example', 'bü*.de', 'a.*'],
    },
    { senders: ['ceo@example.com', '*@example.com', 'ceo*', '*example.com', '*', 'ceo@*'] },
    {
      hosts: ['dc-01', 'dc-01.corp.example.', 'DC*'],
      users: ['CORP\\\\ceo', 'ceo@example.com', 'o’n*'],
    },
  ])('takes every pattern of %j', (targets) => {
    const { protectedTargets } = loadSettings({ PROTECTED_TARGETS: JSON.stringify(targets) });
    expect(protectedTargets).toEqual(targets);
  });

  it.each([
    ['ips', '10.0.0.0/33'],
    ['ips', '2001:db8::/129'],
    ['ips', '10.0.0.0/'],
    ['ips', '10.0.0.0/8/8'],
    ['ips', '10.0.0'],
    ['ips', '999.*'],
    ['ips', '10.0.0.0.*'],
    ['ips', '*.*.*.*.*'],
    ['ips', '10.0.0.25*9'],
    ['ips', 'fe80::1%eth0'],
    ['ips', 'example.com'],
    ['domains', 'example'],
    ['domains', 'exa mple.com'],
    ['domains', 'https://example.com'],
    ['domains', 'ceo@example.com'],
    ['domains', '10.0.0.1'],
    ['domains', '*..com'],
    ['domains', 'ex?mple.com'],
    ['domains', 'ex\u200bample.com'],
    ['senders', 'example.com'],
    ['senders', 'ceo@localhost'],
    ['senders', 'Bob <bob@example.com>'],
    ['senders', 'a@b@*'],
    ['hosts', 'dc-0?'],
    ['hosts', 'dc\uff1f'],
    ['hosts', ' . '],
    ['hosts', 'dc-01\u202e'],
    ['users', 'ceo\n'],
  ] as const)('stops the start for a pattern of %s that can match nothing: %j', (list, pattern) => {
    const load = (): unknown =>
      loadSettings({ PROTECTED_TARGETS: JSON.stringify({ [list]: ['*', pattern] }) });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(
      new RegExp(
        `^PROTECTED_TARGETS has under ${list} the pattern "[\\x20-\\x7e\\uff1f]+", which .+\\.$`,
      ),
    );
  });

  it('shows in the message what nobody sees in a pattern', () => {
    const load = (): unknown => loadSettings({ PROTECTED_TARGETS: '{"hosts": ["dc\u200b-01"]}' });
    expect(load).toThrow('the pattern "dc\\u{200b}-01", which can match nothing');
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
  ])('stops the start when %s is %s, in one line that names it', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
  });
});
