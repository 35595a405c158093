import { readFileSync } from 'node:fs';
import { targetsIn } from '../../test/support/vendors/vendor-site.js';
import { addressProblems, configProblems, originsOf } from '../targets/target-check.js';
import { type Config, splitConfig } from '../targets/target-config.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import type { ConnectorType } from './connector-type.js';
import { jira } from './types/jira.js';
import { slack } from './types/slack.js';
import { virusTotal } from './types/virustotal.js';

const NAMES = CONNECTOR_TYPES.all.map(({ name }) => name);

it('the connector registry finds the types of the contract in the folder, sorted by name', () => {
  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));
  const { mapping } = document.components.schemas.ConnectorInput.discriminator;
  expect(NAMES).toEqual(Object.keys(mapping));
  expect(NAMES).toEqual([...NAMES].sort());
});

const JIRA = {
  base_url: 'https://example.atlassian.net',
  email: 'soc@example.com',
  api_token: 'a-secret',
  project_key: 'SEC',
};

interface SmallestConfig {
  readonly type: ConnectorType;
  readonly config: Config;
  readonly secret: string;
  readonly origin: string;
}

describe.each<SmallestConfig>([
  {
    type: virusTotal,
    config: { api_key: 'a-secret' },
    secret: 'api_key',
    origin: 'https://www.virustotal.com',
  },
  {
    type: slack,
    config: { bot_token: 'a-secret' },
    secret: 'bot_token',
    origin: 'https://slack.com',
  },
  { type: jira, config: JIRA, secret: 'api_token', origin: JIRA.base_url },
])('the smallest configuration of $type.name', ({ type, config, secret, origin }) => {
  it('is valid, and names the origin that receives the secret', () => {
    expect(configProblems(type.config, config)).toEqual([]);
    expect(originsOf(type.config, config)).toEqual([origin]);
  });

  it('has one secret field', () => {
    expect(splitConfig(type.config, config).secrets).toEqual({ [secret]: 'a-secret' });
  });

  it('rejects a secret of fewer than 8 characters', () => {
    const short = { ...config, [secret]: '4831483' };
    expect(configProblems(type.config, short)).toMatchObject([
      {
        field: `config.${secret}`,
        code: 'length',
        message: expect.stringContaining('must have 8 to'),
      },
    ]);
  });

  it('rejects a secret with a line break', () => {
    const broken = { ...config, [secret]: 'secret\r\nx: y' };
    expect(configProblems(type.config, broken)).toMatchObject([
      { field: `config.${secret}`, code: 'matches' },
    ]);
  });

  it('rejects a public address without TLS', () => {
    const plain = { ...config, base_url: 'http://vendor.example.com' };
    expect(addressProblems(type.config, plain, targetsIn([]))).toMatchObject([
      { code: 'https_required' },
    ]);
  });
});

it.each([
  { email: 'a:b@example.com' },
  { email: 'soc' },
  { project_key: 'SEC" OR project = "HR' },
  { project_key: '../SEC' },
  { issue_type: '' },
])('a jira configuration with %j is rejected', (change) => {
  const config = { ...JIRA, ...change };
  const [name] = Object.keys(change);
  expect(configProblems(jira.config, config)).toMatchObject([{ field: `config.${name}` }]);
});
