import type { OpenAPIObject } from '@nestjs/swagger';
import type { SchemaObject } from '@nestjs/swagger';

const REFERENCE = /"#\/components\/schemas\/(\w+?)(Envelope|List)"/g;

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Makes a named component of every envelope that an answer refers to. */
export function addEnvelopes(document: OpenAPIObject): void {
  const schemas = (document.components ??= {}).schemas ?? {};
  for (const [, name, kind] of JSON.stringify(document.paths).matchAll(REFERENCE)) {
    if (!name || schemas[`${name}${kind}`]) continue;
    const item = schemas[`${name}Dto`] ? `${name}Dto` : name;
    if (!schemas[item]) throw new Error(`No schema ${item} for ${name}${kind}.`);
    schemas[`${name}${kind}`] = kind === 'List' ? listOf(item) : envelopeOf(item);
  }
}

function envelopeOf(item: string): SchemaObject {
  return {
    type: 'object',
    required: ['data'],
    properties: { data: ref(item) },
    additionalProperties: false,
  };
}

function listOf(item: string): SchemaObject {
  return {
    type: 'object',
    required: ['data', 'meta'],
    properties: { data: { type: 'array', items: ref(item) }, meta: ref('ListMeta') },
    additionalProperties: false,
  };
}
