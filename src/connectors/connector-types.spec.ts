import type { Settings } from '../platform/config/settings.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { Resolver, Targets } from '../platform/net/targets.js';
import { JiraType } from './adapters/jira/jira.connector.js';
import { SlackType } from './adapters/slack/slack.connector.js';
import { VirusTotalType } from './adapters/virustotal/virustotal.connector.js';
import { configProblems } from '../targets/target-check.js';
import { type Config, splitConfig } from '../targets/target-config.js';
import type { ConnectorType } from './connector-type.js';
import { originsOf, plainTextProblems } from '../targets/target-check.js';

const http = new OutboundHttp(
  new Targets(new Resolver(), { allowedPrivateTargets: [] } as unknown as Settings),
);
const JIRA = {
  base_url: 'https://example.atlassian.net',
  email: 'soc@example.com',
  api_token: 'a-secret',
  project_key: 'SEC',
};

interface Least {
  readonly type: ConnectorType;
  readonly config: Config;
  readonly secret: string;
  readonly origin: string;
}

describe.each<Least>([
  {
    type: new VirusTotalType(http),
    config: { api_key: 'a-secret' },
    secret: 'api_key',
    origin: 'https://www.virustotal.com',
  },
  {
    type: new SlackType(http),
    config: { bot_token: 'a-secret' },
    secret: 'bot_token',
    origin: 'https://slack.com',
  },
  { type: new JiraType(http), config: JIRA, secret: 'api_token', origin: JIRA.base_url },
])('the configuration of $type.name', ({ type, config, secret, origin }) => {
  it('needs no more than this, and knows where the secret goes', () => {
    expect(configProblems(type.schema, config, 'config')).toEqual([]);
    expect(originsOf(type, config)).toEqual([origin]);
  });

  it('keeps the secret, and only that, out of what may be read', () => {
    expect(splitConfig(type.schema, config).secrets).toEqual({ [secret]: 'a-secret' });
  });

  it('takes no secret that is too short to be masked safely', () => {
    const short = { ...config, [secret]: '4831483' };
    expect(configProblems(type.schema, short, 'config')).toMatchObject([
      {
        field: `config.${secret}`,
        code: 'length',
        message: expect.stringContaining('must have 8 to'),
      },
    ]);
  });

  it('takes no secret that would end a header', () => {
    const broken = { ...config, [secret]: 'secret\r\nx: y' };
    expect(configProblems(type.schema, broken, 'config')).toMatchObject([
      { field: `config.${secret}`, code: 'matches' },
    ]);
  });

  it('sends the secret through the internet only encrypted', () => {
    const plain = { ...config, base_url: 'http://vendor.example.com' };
    expect(plainTextProblems(type, plain, 'config')).toMatchObject([{ code: 'https_required' }]);
  });
});

it.each([
  { email: 'a:b@example.com' },
  { email: 'soc' },
  { project_key: 'SEC" OR project = "HR' },
  { project_key: '../SEC' },
  { issue_type: '' },
])('takes no jira configuration with %j', (change) => {
  const config = { ...JIRA, ...change };
  const [name] = Object.keys(change);
  expect(configProblems(new JiraType(http).schema, config, 'config')).toMatchObject([
    { field: `config.${name}` },
  ]);
});
