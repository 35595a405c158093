import type { OpenAPIObject } from '@nestjs/swagger';
import { shareParts } from './sharing.js';

const header = (description: string) => ({ description, schema: { type: 'integer' } });
const refused = (code: string, more: object = {}) => ({
  description: code,
  content: { 'application/json': { examples: { [code]: { $ref: '#/e' } } } },
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

  it('gives the name to what is there most often when several differ', () => {
    const often = { responses: { 200: { headers: { 'Retry-After': header('often') } } } };
    const once = { responses: { 200: { headers: { 'Retry-After': header('once') } } } };
    const { operations, components } = shared([once, often, often]);
    expect(components?.headers).toEqual({ RetryAfter: header('often') });
    expect(operations[0]!.responses).toEqual(once.responses);
  });

  it('shares errors, named by their codes, in two variants, and no answer in which all goes well', () => {
    const limited = { headers: { 'X-RateLimit-Limit': header('limit') } };
    const one = { responses: { 200: refused('fine'), 404: refused('not_found', limited) } };
    const other = { responses: { 200: refused('fine'), 404: refused('not_found') } };
    const { operations, components } = shared([one, one, one, other, other]);
    expect(Object.keys(components?.responses ?? {})).toEqual([
      'NotFoundAnswer',
      'NotFoundAnswerUnlimited',
    ]);
    expect(operations[4]!.responses).toEqual({
      200: refused('fine'),
      404: { $ref: '#/components/responses/NotFoundAnswerUnlimited' },
    });
  });

  it('refuses a name that a schema has', () => {
    const one = { responses: {}, parameters: [page] };
    expect(() => shareParts(documentOf([one, one], { PageQuery: {} }))).toThrow(/called PageQuery/);
  });
});
