import type { OperationObject } from '@nestjs/swagger';
import { addExamples, gathered } from './examples.js';
import { type ExamplesByCase, refused } from './operation-examples.js';

const json = (more: object = {}) => ({ content: { 'application/json': { schema: {}, ...more } } });
const CONFLICT = { conflict: { $ref: '#/components/examples/conflict' } };

const operation = (): OperationObject =>
  ({
    operationId: 'make',
    requestBody: json(),
    responses: { 201: json(), 409: json({ examples: CONFLICT }) },
  }) as unknown as OperationObject;

const MADE: ExamplesByCase = {
  plain: { summary: 'Plain', body: { a: 1 }, status: 201, answer: { data: 1 } },
  again: { summary: 'Again', body: { a: 1 }, status: 201, answer: { data: 2 } },
};

const bodyOf = (owner: unknown) =>
  (owner as ReturnType<typeof json>).content['application/json'] as { examples?: object };

describe('addExamples', () => {
  it('shows what succeeds as a request, the same body once, and every answer by its case', () => {
    const made = operation();
    const components = {};
    addExamples(made, MADE, components);
    expect(bodyOf(made.requestBody).examples).toEqual({
      plain: { summary: 'Plain', value: { a: 1 } },
    });
    expect(Object.keys(bodyOf(made.responses['201']).examples!)).toEqual(['plain', 'again']);
    expect(components).toHaveProperty('make_again', { summary: 'Again', value: { data: 2 } });
  });

  it('shows its own example of an error in the place of the one that all share', () => {
    const made = operation();
    const taken = {
      summary: 'Taken',
      body: {},
      status: 409,
      answer: refused('conflict', 'Taken.'),
    };
    addExamples(made, { ...MADE, taken }, {});
    expect(Object.keys(bodyOf(made.responses['409']).examples!)).toEqual(['taken']);
    const plain = operation();
    addExamples(plain, MADE, {});
    expect(bodyOf(plain.responses['409']).examples).toEqual(CONFLICT);
  });

  it('shows none of a page for people', () => {
    const page = {
      operationId: 'read',
      responses: { 200: { content: { 'text/html': {} } } },
    } as unknown as OperationObject;
    const components = {};
    addExamples(page, { page: { summary: 'Page', status: 200, answer: '<p>' } }, components);
    expect([components, page.responses]).toEqual([{}, { 200: { content: { 'text/html': {} } } }]);
  });

  it.each<[string, ExamplesByCase, RegExp]>([
    ['an answer has none', {}, /no example with status 201/],
    [
      'one has a status that is never answered',
      { ...MADE, gone: { summary: 'Gone', status: 410, answer: {} } },
      /never answers 410/,
    ],
  ])('is a mistake when %s', (_, cases, message) => {
    expect(() => addExamples(operation(), cases, {})).toThrow(message);
  });
});

describe('gathered', () => {
  it('refuses an operation that two modules know', () => {
    expect(() => gathered([{ make: MADE }, { make: MADE }])).toThrow(/make are there twice/);
  });
});
