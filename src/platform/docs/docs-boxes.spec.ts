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

describe('the boxes of "Try it out"', () => {
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
    examples: { stop: { value: { reason: 'Wrong hosts.', held: 'resume' } } },
    requestBodies: { Stop: { content: { [JSON_TYPE]: { example: { reason: 'Wrong hosts.' } } } } },
  };
  const parameterOf = (parameter: object, method?: string) =>
    JSON.stringify(shown({ parameters: [parameter] }, method).parameters[0]);

  it('belong to requests to the host of the page, whatever address the document names', () => {
    const document = { servers: [{ url: 'http://127.0.0.1:3000' }], paths: {} };
    expect(prepare(document, () => true)).toMatchObject({ servers: [{ url: '/' }] });
  });

  it.each<[string, object]>([
    ['an example of its own', { name: 'a', in: 'query', example: 'open' }],
    ['one of its schema', { name: 'a', in: 'query', schema: { type: 'string', example: 'open' } }],
    ['several', { name: 'a', in: 'query', examples: { one: { value: 'open' } } }],
    ['one that is shared', { $ref: '#/components/parameters/Status' }],
    ['one in a header', { name: 'a', in: 'header', example: 'open' }],
  ])('are empty for an optional parameter with %s', (_what, parameter) => {
    expect(parameterOf(parameter)).not.toMatch(/"examples?":/);
  });

  it('have no example of a filter: its description has it', () => {
    const example = ['high', 'critical'];
    const parameter = { name: 'severity', in: 'query', description: 'How bad.', example };
    expect(shown({ parameters: [parameter] }).parameters[0]!.description).toBe(
      'How bad.\n\nFor example `high,critical`.',
    );
  });

  it('keep the default of a parameter', () => {
    const page = { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } };
    expect(parameterOf(page)).toContain('"default":1');
  });

  const playbook = { name: 'id', in: 'path', required: true, example: 'phishing-response' };

  it('have a working value for a required parameter', () => {
    expect(parameterOf(playbook)).toContain('phishing-response');
    expect(parameterOf(playbook, 'post')).toContain('phishing-response');
  });

  it.each(['put', 'delete'])('are empty for a %s, which would change the example', (method) => {
    expect(parameterOf(playbook, method)).not.toContain('phishing-response');
  });

  it.each<[object]>([[{ $ref: '#/components/schemas/ActionId' }], [{ example: ID }]])(
    'is empty where the example is an id that only the story has: %j',
    (schema) => {
      expect(parameterOf({ name: 'id', in: 'path', required: true, schema })).not.toContain(ID);
    },
  );

  const bodyOf = (requestBody: object, method = 'post') =>
    shown({ requestBody }, method).requestBody.content[JSON_TYPE]!;
  const content = (media: object) => ({ content: { [JSON_TYPE]: media } });

  it('have no reasons, comments and passwords', () => {
    const example = { reason: 'a', comment: 'b', resolution: 'c', new_password: 'd', role: 'e' };
    expect(bodyOf(content({ example }))['example']).toEqual({
      ...{ reason: '', comment: '', resolution: '', new_password: '' },
      role: 'e',
    });
  });

  it('have no id of a recorded incident, but texts with the id', () => {
    const rest = { dry_run: true, source: `of ${ID}`, parameters: { id: ID } };
    const example = { incident_id: ID, ...rest };
    expect(bodyOf(content({ example }))['example']).toEqual(rest);
  });

  it('are cleared in each of several examples, and in shared examples', () => {
    const examples = { one: { $ref: '#/components/examples/stop' } };
    expect(bodyOf(content({ examples }))['examples']).toEqual({
      one: { value: { reason: '', held: 'resume' } },
    });
    expect(bodyOf({ $ref: '#/components/requestBodies/Stop' })['example']).toEqual({ reason: '' });
    expect(components.examples.stop.value.reason).toBe('Wrong hosts.');
  });

  it.each<[string, object, object]>([
    ['several examples', { examples: { rate: { value: { title: 'a' } } } }, {}],
    ['one example', { example: { title: 'a' } }, {}],
    ['none', {}, {}],
    ['no object', { example: ['title'] }, {}],
    ['passwords', { example: { new_password: 'd', role: 'e' } }, { new_password: '' }],
  ])('have no values that a PUT would overwrite: %s', (_what, media, value) => {
    const { examples, example } = bodyOf(content(media), 'put');
    expect(Object.values(examples as object)[0]).toEqual({ summary: 'Nothing filled in', value });
    expect(example).toBeUndefined();
  });

  it('offer the examples of a PUT as a choice', () => {
    const rate = { value: { title: 'a' } };
    const { examples } = bodyOf(content({ examples: { rate } }), 'put');
    expect(Object.entries(examples as object)[1]).toEqual(['rate', rate]);
  });

  it.each([[['reason']], ['reason'], [null], [7]])('keep a body unchanged if it is %j', (example) =>
    expect(bodyOf(content({ example }))['example']).toEqual(example),
  );

  it('have a title with the required role if the role of the reader is too low', () => {
    const operation = { summary: 'Delete it', 'x-required-role': 'admin' };
    expect(shown(operation).summary).toBe('Delete it');
    const mayCall: MayCall = (role) => role !== 'admin';
    expect(shown(operation, 'delete', mayCall).summary).toBe('Delete it (needs the role admin)');
  });
});
