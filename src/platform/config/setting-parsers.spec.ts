import { chosenProvider, loadSettings } from './settings.js';

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
    { ips: ['10.0.0.0/8', '2001:db8::/32', '10.0.*', '2001:db8:*', '::ffff:10.0.0.1', '*'] },
    {
      domains: ['example.com', '*.example.com', '.example.com', 'bücher.example', 'bü*.de', 'a.*'],
    },
    { senders: ['ceo@example.com', '*@example.com', 'ceo*', '*example.com', '*', 'ceo@*'] },
    {
      hosts: ['dc-01', 'dc-01.corp.example.', 'DC*'],
      users: ['CORP\\\\ceo', 'ceo@example.com', 'o’n*'],
    },
  ])('accept every pattern of %j', (targets) => {
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
    ['ips', '10.0.0.25*'],
    ['ips', '10.*.0.1'],
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
  ] as const)('stop the start if %s has a pattern that can match nothing: %j', (list, pattern) => {
    const load = (): unknown =>
      loadSettings({ PROTECTED_TARGETS: JSON.stringify({ [list]: ['*', pattern] }) });
    expect(load).toThrow(
      new RegExp(
        `^PROTECTED_TARGETS has the pattern "[\\x20-\\x7e\\uff1f]+" in ${list}, which .+\\.$`,
      ),
    );
  });

  it('show invisible characters of a pattern in the message', () => {
    const load = (): unknown => loadSettings({ PROTECTED_TARGETS: '{"hosts": ["dc\u200b-01"]}' });
    expect(load).toThrow('the pattern "dc\\u{200b}-01" in hosts, which can match nothing');
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
  ])('reject %s=%s with one line that names the setting', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
  });
});

const KEY = { ANTHROPIC_API_KEY: 'key-of-a-test' };
const DATABASE = { DATABASE_URL: 'postgres://db.example.com/its' };

describe('the triage provider', () => {
  it.each([
    ['rules with the embedded database', {}, 'rules'],
    ['none with another database', DATABASE, 'none'],
    ['anthropic with a key', KEY, 'anthropic'],
    ['anthropic with a key and another database', { ...KEY, ...DATABASE }, 'anthropic'],
    ['the named provider, even with a key', { ...KEY, TRIAGE_PROVIDER: 'none' }, 'none'],
    ['the named provider', { ...DATABASE, TRIAGE_PROVIDER: 'rules' }, 'rules'],
  ])('is %s', (_, environment, expected) =>
    expect(chosenProvider(loadSettings(environment))).toBe(expected),
  );

  it('is rejected with one line if it is anthropic without a key', () => {
    const load = (): unknown =>
      loadSettings({ TRIAGE_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: '' });
    expect(load).toThrow(/^TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY\.$/);
  });
});

describe('the settings of the model', () => {
  it.each([
    ['TRIAGE_PROVIDER', 'Anthropic'],
    ['ANTHROPIC_API_KEY', 'sk-with a-blank'],
    ['ANTHROPIC_API_KEY', 'sk-with\nline'],
    ['ANTHROPIC_BASE_URL', 'api.example.com'],
    ['ANTHROPIC_BASE_URL', 'file:///etc/passwd'],
    ['ANTHROPIC_BASE_URL', 'http://api.example.com'],
    ['ANTHROPIC_BASE_URL', 'http://192.0.2.7.example.com:8080/v1'],
    ['ANTHROPIC_BASE_URL', 'http://[2606:4700::1111]'],
    ['ANTHROPIC_BASE_URL', 'https://user:password@api.example.com'],
    ['ANTHROPIC_BASE_URL', 'https://api.example.com/?to=elsewhere'],
    ['ANTHROPIC_BASE_URL', 'https://api.example.com/#x'],
    ['ANTHROPIC_MODEL', 'a model'],
    ['TRIAGE_TIMEOUT_MS', '99'],
    ['AI_TOKENS_PER_HOUR', '-1'],
  ])(
    'reject an invalid %s with one line that names the setting but not the value',
    (variable, value) => {
      const load = (): unknown => loadSettings({ [variable]: value });
      expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
      expect(load).not.toThrow(value);
    },
  );

  it.each(['http://127.0.0.1:4000/proxy/', 'http://model.internal', 'https://[::1]:8443'])(
    'accept %s as address of the provider',
    (address) =>
      expect(loadSettings({ ANTHROPIC_BASE_URL: address }).anthropicBaseUrl).toBe(address),
  );
});

describe('the trace settings', () => {
  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:password@collector:4318' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318?key=1' },
  ])('reject %j', (given) => expect(() => loadSettings(given)).toThrow(/ must be /));
});
