import { loadSettings, SettingError } from './load-settings.js';
import { chosenProvider } from './triage-settings.js';

const KEY = { ANTHROPIC_API_KEY: 'key-of-a-test' };
const DATABASE = { DATABASE_URL: 'postgres://db.example.com/its' };

describe('the provider of triage', () => {
  it.each([
    ['rules with the embedded database', {}, 'rules'],
    ['none with another database', DATABASE, 'none'],
    ['anthropic with a key', KEY, 'anthropic'],
    ['anthropic with a key and another database', { ...KEY, ...DATABASE }, 'anthropic'],
    ['what is named, though there is a key', { ...KEY, TRIAGE_PROVIDER: 'none' }, 'none'],
    ['what is named', { ...DATABASE, TRIAGE_PROVIDER: 'rules' }, 'rules'],
  ])('is %s', (_, environment, expected) =>
    expect(chosenProvider(loadSettings(environment))).toBe(expected),
  );

  it('stops the start with one line when it is anthropic and there is no key', () => {
    const load = (): unknown =>
      loadSettings({ TRIAGE_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: ' ' });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(/^ANTHROPIC_API_KEY is needed[^\n]+\.$/);
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
  ])('name %s when it is wrong, in one line and without the value', (variable, value) => {
    const load = (): unknown => loadSettings({ [variable]: value });
    expect(load).toThrow(SettingError);
    expect(load).toThrow(new RegExp(`^${variable} [^\\n]+\\.$`));
    expect(load).not.toThrow(value);
  });

  it.each(['http://127.0.0.1:4000/proxy/', 'http://model.internal', 'https://[::1]:8443'])(
    'take %s as the address of the provider',
    (address) =>
      expect(loadSettings({ ANTHROPIC_BASE_URL: address }).anthropicBaseUrl).toBe(address),
  );
});
