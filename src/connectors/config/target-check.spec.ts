import type { Settings } from '../../platform/config/settings.js';
import { Resolver, Targets } from '../../platform/net/targets.js';
import type { ConfigSchema } from './config-schema.js';
import { targetProblems } from './target-check.js';

const ADDRESS = { type: 'string', format: 'uri', maxLength: 200 } as const;
const SCHEMA: ConfigSchema = {
  type: 'object',
  properties: { base_url: ADDRESS, login_url: ADDRESS, note: { type: 'string', maxLength: 200 } },
  required: ['base_url'],
  additionalProperties: false,
};

function problems(config: object, allowed: readonly string[] = []) {
  const targets = new Targets(new Resolver(), { allowedPrivateTargets: allowed } as Settings);
  const found = targetProblems(SCHEMA, { ...config }, 'config', targets);
  return found.map(({ field, code }) => `${field} ${code}`);
}

describe('targetProblems', () => {
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
  ])('finds %s', (base_url) => {
    expect(problems({ base_url })).toEqual(['config.base_url target_refused']);
  });

  it.each([
    'https://vendor.example/api',
    'https://1.1.1.1',
    'https://[2606:4700::1111]',
    // Names are looked up for each call, and judged by what they lead to then.
    'http://localhost:8080',
    'http://metadata.google.internal',
  ])('lets %s be', (base_url) => {
    expect(problems({ base_url })).toEqual([]);
  });

  it('looks at every address, and at nothing else', () => {
    const config = {
      base_url: 'https://1.1.1.1',
      login_url: 'http://10.0.0.1',
      note: 'http://[::1]',
    };
    expect(problems(config)).toEqual(['config.login_url target_refused']);
  });

  it('knows what the site allows, and that cloud metadata never is', () => {
    expect(problems({ base_url: 'http://10.1.2.3' }, ['10.0.0.0/8'])).toEqual([]);
    expect(problems({ base_url: 'http://169.254.169.254' }, ['169.254.0.0/16'])).toHaveLength(1);
  });
});
