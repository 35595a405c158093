import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { loadSettings } from './load-settings.js';
import { declaredSettings } from './settings.js';

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
