import { targetsIn } from '../../test/support/vendors/vendor-site.js';
import type { Config, ConfigSchema } from './target-config.js';
import { addressProblems, originsOf, secretsNotGivenAgain } from './target-check.js';

const TEXT = { type: 'string', maxLength: 200 } as const;
const ADDRESS = { ...TEXT, format: 'uri' } as const;
const SECRET = { ...TEXT, writeOnly: true } as const;

/** Schema of a vendor with a separate login service. */
const TWO_ADDRESSES: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: { ...ADDRESS, default: 'https://graph.vendor.example' },
    login_url: ADDRESS,
    client_secret: SECRET,
    headers: {
      type: 'object',
      propertyNames: { pattern: '.' },
      additionalProperties: TEXT,
      maxProperties: 9,
      writeOnly: true,
    },
  },
  required: [],
  additionalProperties: false,
};

/** Schema of a mail server. */
const HOST: ConfigSchema = {
  type: 'object',
  properties: {
    host: TEXT,
    port: { type: 'integer', minimum: 1, maximum: 65_535, default: 587 },
    secure: { type: 'boolean', default: false },
    password: SECRET,
  },
  required: ['host'],
  additionalProperties: false,
};

describe('originsOf', () => {
  const login = { login_url: 'https://login.example' };

  it('returns the origin of every address field, or of its default', () => {
    expect(originsOf(TWO_ADDRESSES, login)).toEqual([
      'https://graph.vendor.example',
      'https://login.example',
    ]);
  });

  it.each([
    ['HTTPS://Vendor.Example:443/v1', 'https://vendor.example/v2', true],
    ['https://vendor.example', 'http://vendor.example', false],
    ['https://vendor.example', 'https://vendor.example:8443', false],
    ['https://vendor.example', 'https://vendor.example.evil.example', false],
    ['https://vendor.example', 'https://vendor.example.', false],
  ])('given the addresses %s and %s, returns the same origin: %j', (before, after, same) => {
    const of = (base_url: string) => originsOf(TWO_ADDRESSES, { ...login, base_url })[0];
    expect(of(before) === of(after)).toBe(same);
  });

  it.each([
    [{ host: 'MAIL.example', port: 587 }, true],
    [{ host: 'mail.example', secure: true }, false],
    [{ host: 'mail.example', port: 465 }, false],
    [{ host: 'mail.evil.example' }, false],
  ])('given another host, port or TLS mode, %j, returns the same origin: %j', (after, same) => {
    const before = originsOf(HOST, { host: 'mail.example' })[0];
    expect(originsOf(HOST, after)[0] === before).toBe(same);
  });
});

describe('secretsNotGivenAgain', () => {
  const stored: Config = {
    base_url: 'https://a.example',
    client_secret: 'one',
    headers: { authorization: 'two', 'x.y': 'three' },
  };
  const kept = (change: Config): string[] => secretsNotGivenAgain(TWO_ADDRESSES, stored, change);

  it('names each secret that the change does not give again', () => {
    expect(kept({})).toEqual(['client_secret', 'headers.authorization', 'headers.x.y']);
    expect(kept({ headers: { authorization: 'two' } })).toEqual(['client_secret', 'headers.x.y']);
  });

  it('omits a secret that is removed or given again, even with the same value', () => {
    const headers = { authorization: null, 'x.y': 'three' };
    expect(kept({ client_secret: 'one', headers })).toEqual([]);
  });
});

describe('the check of an address that receives secrets', () => {
  const found = (base_url: string, more: Config = { client_secret: 'one' }): string[] => {
    const config = { base_url, login_url: 'https://login.example', ...more };
    const problems = addressProblems(
      TWO_ADDRESSES,
      config,
      targetsIn(['10.0.0.0/8', '127.0.0.0/8']),
    );
    return problems.map(({ field }) => field);
  };

  it.each([
    'http://vendor.example.com',
    'http://8.8.8.8',
    'http://localhost.evil.com',
    'http://[2606:4700::1111]',
    'http://corp.com',
  ])('rejects %s', (url) => expect(found(url)).toEqual(['config.base_url']));

  it.each([
    'https://vendor.example.com',
    'http://localhost:8080',
    'http://firewall',
    'http://firewall.internal',
    'http://firewall.default.svc.cluster.local',
    'http://10.1.2.3',
    'http://127.0.0.1',
  ])('allows %s', (url) => expect(found(url)).toEqual([]));

  it('allows plain http if the configuration has no secrets', () => {
    expect(found('http://vendor.example.com', {})).toEqual([]);
  });
});

const WITH_LOGIN: ConfigSchema = {
  type: 'object',
  properties: { base_url: ADDRESS, login_url: ADDRESS, note: { type: 'string', maxLength: 200 } },
  required: ['base_url'],
  additionalProperties: false,
};

function problems(config: object, allowed: string[] = []) {
  const found = addressProblems(WITH_LOGIN, { ...config }, targetsIn(allowed));
  return found.map(({ field, code }) => `${field} ${code}`);
}

describe('addressProblems', () => {
  it.each([
    'http://127.0.0.1:8080',
    'http://127.0.0.1.',
    'http://2130706433',
    'http://0x7f.1/api',
    'http://0',
    'http://10.1.2.3',
    'https://192.168.0.1',
    'http://169.254.1.1',
    'http://169.254.169.254',
    'http://[::1]',
    'http://[fe80::1]',
    'http://[fd00:ec2::254]',
    'http://[::ffff:10.0.0.1]',
    'http://[64:ff9b::a00:1]',
  ])('rejects %s, which is not a public address', (base_url) => {
    expect(problems({ base_url })).toEqual(['config.base_url target_refused']);
  });

  it.each([
    'https://vendor.example/api',
    'https://1.1.1.1',
    'https://[2606:4700::1111]',
    // Names are resolved and checked only at each call.
    'http://localhost:8080',
    'http://metadata.google.internal',
  ])('allows %s, which is public or a name', (base_url) => {
    expect(problems({ base_url })).toEqual([]);
  });

  it('checks every address field, and no other field', () => {
    const config = {
      base_url: 'https://1.1.1.1',
      login_url: 'http://10.0.0.1',
      note: 'http://[::1]',
    };
    expect(problems(config)).toEqual(['config.login_url target_refused']);
  });

  it('allows addresses that the site allows, but never cloud metadata', () => {
    expect(problems({ base_url: 'http://10.1.2.3' }, ['10.0.0.0/8'])).toEqual([]);
    expect(problems({ base_url: 'http://169.254.169.254' }, ['169.254.0.0/16'])).toHaveLength(1);
  });
});
