import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Shown {
  readonly summary: string;
  readonly parameters: { readonly name: string; readonly description?: string }[];
  readonly requestBody: { readonly content: Record<string, Record<string, unknown>> };
}

type MayCall = (role: string | undefined) => boolean;
type Prepare = (document: object, mayCall: MayCall) => { paths: Record<string, object> };

const ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
const JSON_TYPE = 'application/json';

describe('the input boxes of "Try it out"', () => {
  let prepare: Prepare;

  beforeAll(async () => {
    const file = pathToFileURL(join(__dirname, 'browser/boxes.mjs')).href;
    ({ documentForPage: prepare } = (await import(file)) as { documentForPage: Prepare });
  });

  const shown = (operation: object, method = 'get', mayCall: MayCall = () => true): Shown => {
    const { paths } = prepare({ components, paths: { '/x': { [method]: operation } } }, mayCall);
    return (paths['/x'] as Record<string, Shown>)[method]!;
  };
  const components = {
    parameters: {
      Status: { name: 'status', in: 'query', schema: { type: 'string', example: 'open' } },
    },
    schemas: { ActionId: { type: 'string', example: `act-${ID}` } },
  };
  const parameterOf = (parameter: object, method?: string) =>
    JSON.stringify(shown({ parameters: [parameter] }, method).parameters[0]);

  it('fit the contract of this service', () => {
    const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as object;
    const { sort } = Object.fromEntries(
      (prepare(document, () => true).paths['/api/incidents'] as Record<string, Shown>)[
        'get'
      ]!.parameters.map((parameter) => [parameter.name, parameter.description]),
    );
    expect(sort).toContain('Fields: created_at, ');
    const methods = Object.keys(prepare(document, () => true).paths['/api/incidents/{id}']!);
    expect(methods).toEqual(['get', 'put', 'delete']);
  });

  it('send requests to the host of the page, even if the document names another address', () => {
    const document = { servers: [{ url: 'http://127.0.0.1:3000' }], paths: {} };
    expect(prepare(document, () => true)).toMatchObject({ servers: [{ url: '/' }] });
  });

  it.each<[string, object]>([
    ['an example of its own', { name: 'a', in: 'query', example: 'open' }],
    ['one of its schema', { name: 'a', in: 'query', schema: { type: 'string', example: 'open' } }],
    ['one that is shared', { $ref: '#/components/parameters/Status' }],
    ['one in a header', { name: 'a', in: 'header', example: 'open' }],
  ])('are empty for an optional parameter with an example (%s)', (_what, parameter) => {
    expect(parameterOf(parameter)).not.toMatch(/"examples?":/);
  });

  it('are empty for a filter, whose example is in the description', () => {
    const example = ['high', 'critical'];
    const parameter = { name: 'severity', in: 'query', description: 'How bad.', example };
    expect(shown({ parameters: [parameter] }).parameters[0]!.description).toBe(
      'How bad.\n\nFor example `high,critical`.',
    );
  });

  it('contain the default of a parameter', () => {
    const page = { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } };
    expect(parameterOf(page)).toContain('"default":1');
  });

  const playbook = { name: 'id', in: 'path', required: true, example: 'phishing-response' };

  it('contain a working value for a required parameter', () => {
    expect(parameterOf(playbook)).toContain('phishing-response');
    expect(parameterOf(playbook, 'post')).toContain('phishing-response');
  });

  it.each(['put', 'delete'])(
    'are empty for a %s request, which would change the example',
    (method) => {
      expect(parameterOf(playbook, method)).not.toContain('phishing-response');
    },
  );

  it.each<[object]>([[{ $ref: '#/components/schemas/ActionId' }], [{ example: ID }]])(
    'are empty if the example is an id that only the recorded examples have: %j',
    (schema) => {
      expect(parameterOf({ name: 'id', in: 'path', required: true, schema })).not.toContain(ID);
    },
  );

  const examplesOf = (examples: Record<string, object>, method = 'post') => {
    const requestBody = { content: { [JSON_TYPE]: { examples } } };
    return shown({ requestBody }, method).requestBody.content[JSON_TYPE]!['examples'] as object;
  };
  const sent = (value: unknown) => examplesOf({ one: { value } });

  it('contain no reasons, comments or passwords', () => {
    const own = { reason: 'a', comment: 'b', resolution: 'c', new_password: 'd' };
    expect(sent({ ...own, role: 'e' })).toEqual({
      one: { value: { reason: '', comment: '', resolution: '', new_password: '', role: 'e' } },
    });
  });

  it('omit the id of a recorded incident, but keep texts that contain the id', () => {
    const rest = { dry_run: true, source: `of ${ID}`, parameters: { id: ID } };
    expect(sent({ incident_id: ID, ...rest })).toEqual({ one: { value: rest } });
  });

  it.each<[string, Record<string, object>, object]>([
    ['several values', { rate: { value: { title: 'a' } } }, {}],
    ['no example', {}, {}],
    ['passwords', { rate: { value: { new_password: 'd', role: 'e' } } }, { new_password: '' }],
  ])('begin a PUT without the values that it would overwrite: %s', (_what, examples, value) => {
    const [first, second] = Object.values(examplesOf(examples, 'put')) as object[];
    expect(first).toEqual({ summary: 'Nothing filled in', value });
    expect(Object.keys(second ?? {})).toEqual(Object.keys(examples['rate'] ?? {}));
  });

  it.each([[['reason']], ['reason'], [null], [7]])('keep a body unchanged if it is %j', (value) =>
    expect(sent(value)).toEqual({ one: { value } }),
  );

  it('take the fields of `sort` as text, and name them', () => {
    const items = { enum: ['name', '-name', 'created_at', '-created_at'] };
    const sort = { name: 'sort', in: 'query', description: 'Order.', schema: { items } };
    expect(shown({ parameters: [sort] }).parameters[0]).toMatchObject({
      description: 'Order.\n\nFields: name, created_at.',
      schema: { type: 'string' },
    });
  });

  it('show the required role in the title if the role of the reader is too low', () => {
    const operation = { summary: 'Delete it', 'x-required-role': 'admin' };
    expect(shown(operation).summary).toBe('Delete it');
    const mayCall: MayCall = (role) => role !== 'admin';
    expect(shown(operation, 'delete', mayCall).summary).toBe('Delete it (needs the role admin)');
  });
});
