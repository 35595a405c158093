import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** As the contract has it: name, category, parameters (`*` required), level by default, what rolls it back. */
const CONTRACT = `
  quarantine_email  email         message_id* recipient reason      -        release_email
  release_email     email         message_id* recipient reason      analyst  -
  delete_email      email         message_id* recipient reason      senior   -
  block_sender      email         sender* reason                    -        unblock_sender
  unblock_sender    email         sender* reason                    analyst  -
  isolate_host      endpoint      host_id* reason                   senior   unisolate_host
  unisolate_host    endpoint      host_id* reason                   senior   -
  scan_host         endpoint      host_id* scan_type                -        -
  disable_user      identity      user* reason                      senior   enable_user
  enable_user       identity      user* reason                      senior   -
  revoke_sessions   identity      user* reason                      analyst  -
  reset_password    identity      user* reason                      senior   -
  block_ip          network       ip* duration_minutes reason       analyst  unblock_ip
  unblock_ip        network       ip* reason                        analyst  -
  block_domain      network       domain* reason                    analyst  unblock_domain
  unblock_domain    network       domain* reason                    analyst  -
  lookup_url        intelligence  url*                              -        -
  lookup_domain     intelligence  domain*                           -        -
  lookup_ip         intelligence  ip*                               -        -
  lookup_hash       intelligence  hash*                             -        -
  create_ticket     ticketing     title* description priority       -        -
  notify_user       notification  recipient* subject* message*      -        -
  notify_channel    notification  channel* message*                 -        -`;

const VALUES: Readonly<Record<string, unknown>> = {
  message_id: '<4f2a1c@mail.example.net>',
  recipient: 'alice@corp.example',
  reason: 'Phishing.',
  sender: 'mallory@evil.example',
  host_id: 'laptop-7',
  scan_type: 'quick',
  user: 'bob',
  ip: '203.0.113.4',
  duration_minutes: 60,
  domain: 'evil.example',
  url: 'https://evil.example/login?next=/',
  hash: 'd41d8cd98f00b204e9800998ecf8427e',
  title: 'Look at this',
  description: 'It is odd.',
  priority: 'high',
  subject: 'Your account',
  message: 'Please call us.',
  channel: '#soc',
};

const TYPES = CONTRACT.trim()
  .split('\n')
  .map((line) => {
    const [name = '', category = '', ...rest] = line.trim().split(/\s+/);
    const [level = '', inverse = ''] = rest.slice(-2);
    const parameters = rest.slice(0, -2).map((word) => ({
      name: word.replace('*', ''),
      required: word.endsWith('*'),
    }));
    return { name, category, parameters, level, inverse };
  });

const given = (parameters: readonly { readonly name: string }[]): Record<string, unknown> =>
  Object.fromEntries(parameters.map(({ name }) => [name, VALUES[name]]));

describe('the catalogue of actions', () => {
  let app: TestApp;
  let analyst: ApiClient;
  let shown: readonly Record<string, unknown>[];

  beforeAll(async () => {
    app = await startTestApp();
    analyst = await as(app, 'analyst');
    const body = { name: 'sandbox', type: 'sandbox', config: {} };
    await (await as(app, 'admin')).request('POST', '/api/connectors', { body });
    shown = (await analyst.request('GET', '/api/actions/types')).body.data;
  });
  afterAll(() => app.close());

  const execute = (action: string, parameters: object) =>
    analyst.request('POST', '/api/actions/execute', { body: { action, parameters } });

  it('has these types and no other', () => {
    expect(shown.map(({ name }) => name)).toEqual(TYPES.map(({ name }) => name));
  });

  it.each(TYPES)('shows $name as the contract has it', (type) => {
    const { name, category, level, inverse } = type;
    const { parameters, ...found } = shown.find((one) => one.name === name)!;
    expect(found).toEqual({
      name,
      description: expect.stringMatching(/\S/),
      category,
      supports_rollback: inverse !== '-',
      ...(inverse !== '-' && { rolled_back_by: inverse }),
      ...(level !== '-' && { default_approval_level: level }),
      available: true,
    });
    expect(parameters).toMatchObject(
      type.parameters.map((parameter) => ({
        ...parameter,
        type: typeof VALUES[parameter.name] === 'number' ? 'integer' : 'string',
      })),
    );
  });

  it.each(TYPES)('takes of $name what it needs, and all that it knows', async (type) => {
    const { name, parameters, level } = type;
    for (const some of [parameters.filter(({ required }) => required), parameters]) {
      const { status, body } = await execute(name, given(some));
      const { result, approval_level } = body.data;
      expect([status, body.data.status, approval_level, result?.success]).toEqual(
        level === '-'
          ? [200, 'completed', undefined, true]
          : [202, 'pending_approval', level, undefined],
      );
    }
  });

  it.each(TYPES)('refuses of $name what is missing, unknown or of the wrong type', async (type) => {
    const { name, parameters } = type;
    const whole = given(parameters);
    const wrong: [string, object][] = [
      ['other', { ...whole, other: 1 }],
      ...parameters.flatMap((parameter): [string, object][] => {
        const { [parameter.name]: value, ...rest } = whole;
        const values = [typeof value === 'number' ? '60' : 7, null, true, [], {}];
        return [
          ...values.map((one): [string, object] => [
            parameter.name,
            { ...rest, [parameter.name]: one },
          ]),
          ...(parameter.required ? [[parameter.name, rest] as [string, object]] : []),
        ];
      }),
    ];
    for (const [field, given] of wrong) {
      const { status, body } = await execute(name, given);
      expect([status, body.error?.code]).toEqual([422, 'validation_error']);
      expect(body.error.details.errors).toMatchObject([{ field: `parameters.${field}` }]);
    }
  });
});
