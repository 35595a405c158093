import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { declaredSettings, exposureWarning, loadSettings } from './settings.js';

describe('settings', () => {
  it('have a valid default for every variable', () => {
    const settings = loadSettings({});
    expect(settings.port).toBe(3000);
    expect(settings.databaseUrl).toBeUndefined();
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it('are described in .env.example, with their defaults', () => {
    const text = readFileSync('.env.example', 'utf8');
    const examples = parseEnv(text);
    const variables = declaredSettings.map(({ variable }) => variable);
    expect(Object.keys(examples).sort()).toEqual(variables.sort());
    expect(loadSettings(examples)).toEqual(loadSettings({}));
    const undescribed = variables.filter((name) => !new RegExp(`^# .+\n${name}=`, 'm').test(text));
    expect(undescribed).toEqual([]);
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '70000'],
    ['PORT', '1e3'],
    ['EMBEDDED_DATABASE', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'mysql://somewhere'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'proxy.local'],
    ['METRICS_TOKEN', 'short'],
    ['METRICS_TOKEN', ' '],
    ['HOST', ' '],
  ])('reject %s=%s with one line that names the setting but not the value', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
  });

  it('require DATABASE_URL if EMBEDDED_DATABASE is off', () => {
    const off = { EMBEDDED_DATABASE: 'false' };
    expect(() => loadSettings(off)).toThrow(
      /^EMBEDDED_DATABASE=false requires DATABASE_URL\. [^\n]+\.$/,
    );
    expect(() => loadSettings({ ...off, DATABASE_URL: 'postgres://db/its' })).not.toThrow();
  });

  it('treat an empty variable as unset', () => {
    expect(loadSettings({ PORT: '', REDIS_URL: '' })).toMatchObject({
      port: 3000,
      redisUrl: undefined,
    });
  });
});

describe('exposureWarning', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', 'localhost'])(
    'does not warn about the loopback address %s',
    (host) => expect(exposureWarning({ host, trustProxy: [] })).toBeUndefined(),
  );

  it.each(['0.0.0.0', '::', '192.0.2.7', '2001:db8::7', 'soc.example.com'])(
    'warns about the address %s, unless TRUST_PROXY names a proxy',
    (host) => {
      const warning = exposureWarning({ host, trustProxy: [] });
      expect(warning).toContain(`HOST is ${host} and TRUST_PROXY is not set`);
      expect(exposureWarning({ host, trustProxy: ['10.0.0.0/8'] })).toBeUndefined();
    },
  );
});
