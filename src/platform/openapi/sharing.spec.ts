import type { OpenAPIObject } from '@nestjs/swagger';
import { shareParts } from './sharing.js';

const header = (description: string) => ({ description, schema: { type: 'integer' } });
const NOT_FOUND = '`not_found`: The resource does not exist.';
const notFound = (more: object = {}) => ({
  description: NOT_FOUND,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorEnvelope' },
      examples: { not_found: { $ref: '#/components/examples/not_found' } },
    },
  },
  ...more,
});
const page = { name: 'page', in: 'query', schema: { type: 'integer' } };
const incident = {
  name: 'id',
  in: 'path',
  schema: { $ref: '#/components/schemas/IncidentId' },
};

function documentOf(operations: readonly object[], schemas: object = {}): OpenAPIObject {
  const paths = Object.fromEntries(
    operations.map((operation, at) => [`/${at}`, { get: structuredClone(operation) }]),
  );
  const info = { title: '', version: '' };
  return { openapi: '3.0.3', info, paths, components: { schemas } } as unknown as OpenAPIObject;
}

const shared = (operations: readonly object[]) => {
  const { paths, components } = shareParts(documentOf(operations));
  return { operations: Object.values(paths).map(({ get }) => get), components };
};

describe('shareParts', () => {
  it('refers to parameters that several operations have, by the name of their schema where it has one', () => {
    const one = { responses: {}, parameters: [page, incident] };
    const { operations, components } = shared([one, one]);
    expect(operations[1]!.parameters).toEqual([
      { $ref: '#/components/parameters/PageQuery' },
      { $ref: '#/components/parameters/IncidentIdPath' },
    ]);
    expect(components?.parameters).toEqual({ PageQuery: page, IncidentIdPath: incident });
  });

  it('leaves what is there once where it is', () => {
    const { operations, components } = shared([{ responses: {}, parameters: [page] }]);
    expect([operations[0]!.parameters, components?.parameters]).toEqual([[page], {}]);
  });

  it('gives a name to neither of two that differ, however often each is there', () => {
    const often = { responses: { 200: { headers: { 'Retry-After': header('often') } } } };
    const twice = { responses: { 200: { headers: { 'Retry-After': header('twice') } } } };
    const { operations, components } = shared([often, twice, often, often, twice]);
    expect(components?.headers).toEqual({});
    expect(operations.map(({ responses } = { responses: {} }) => responses)).toEqual(
      [often, twice, often, often, twice].map(({ responses }) => responses),
    );
  });

  it('tells a header that is always there from one that may be', () => {
    const may = { responses: { 200: { headers: { 'Retry-After': header('may') } } } };
    const always = { ...header('always'), required: true };
    const will = { responses: { 200: { headers: { 'Retry-After': always } } } };
    const { components } = shared([may, may, will, will]);
    expect(components?.headers).toEqual({ RetryAfter: header('may'), RetryAfterRequired: always });
  });

  it('shares errors by what they say, and no answer in which all goes well', () => {
    const limited = { headers: { 'X-RateLimit-Limit': header('limit') } };
    const one = { responses: { 200: notFound(), 404: notFound(limited) } };
    const other = { responses: { 200: notFound(), 404: notFound() } };
    const { operations, components } = shared([other, other, other, one, one]);
    expect(Object.keys(components?.responses ?? {})).toEqual([
      'NotFoundAnswerUnlimited',
      'NotFoundAnswer',
    ]);
    expect(operations[4]!.responses).toEqual({
      200: notFound(),
      404: { $ref: '#/components/responses/NotFoundAnswer' },
    });
  });

  it('leaves an error in words of its own where it is, beside what has the usual ones', () => {
    const own = { responses: { 404: notFound({ description: '`not_found`: No such book.' }) } };
    const usual = { responses: { 404: notFound() } };
    const { operations, components } = shared([own, own, own, usual, usual]);
    expect(operations[0]!.responses).toEqual(own.responses);
    expect(Object.keys(components?.responses ?? {})).toEqual(['NotFoundAnswerUnlimited']);
  });

  it('refuses a name that a schema has', () => {
    const one = { responses: {}, parameters: [page] };
    expect(() => shareParts(documentOf([one, one], { PageQuery: {} }))).toThrow(/called PageQuery/);
  });
});
