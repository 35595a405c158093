import { readFileSync } from 'node:fs';
import { renderEnvExample } from './env-example.js';
import { loadSettings, SettingError } from './load-settings.js';
import { declaredSettings } from './setting.js';

describe('settings', () => {
  it('has a usable default for every variable', () => {
    const settings = loadSettings({});
    expect(settings.port).toBe(3000);
    expect(settings.databaseUrl).toBeUndefined();
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it('takes each example as a value of its own setting', () => {
    for (const { variable, parser } of declaredSettings()) {
      expect(() => loadSettings({ [variable]: parser.example })).not.toThrow();
    }
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
  ])('names %s when it is %s, in one line and without the value', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
  });

  it('takes no database of its own in a container unless it is told to', () => {
    expect(() => loadSettings({ CONTAINER: 'true' })).toThrow(/^DATABASE_URL is needed[^\n]+\.$/);
    for (const given of [{ EMBEDDED_DATABASE: 'true' }, { DATABASE_URL: 'postgres://db/its' }]) {
      expect(() => loadSettings({ CONTAINER: 'true', ...given })).not.toThrow();
    }
  });

  it('reads an empty variable as unset', () => {
    expect(loadSettings({ PORT: '', REDIS_URL: ' ' })).toMatchObject({
      port: 3000,
      redisUrl: undefined,
    });
  });

  it('is what .env.example documents', () => {
    expect(readFileSync('.env.example', 'utf8')).toBe(renderEnvExample());
  });
});
