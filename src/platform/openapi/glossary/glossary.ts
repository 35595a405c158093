import type { OpenAPIObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { operationsOf } from '../placed-operations.js';
import { FIELDS, PARAMETERS } from './fields.js';
import { SCHEMAS } from './schemas.js';

type Schemas = Record<string, SchemaObject>;

/**
 * Describes the schemas, fields and parameters that say nothing themselves. What a schema by name says of itself does for
 * each field that is one.
 */
export function describeByGlossary(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const [name, schema] of Object.entries(schemas)) {
    schema.description ??= SCHEMAS[name] ?? describedByName(name);
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if ('$ref' in property) continue;
      property.description ??= FIELDS[`${name}.${field}`] ?? FIELDS[field];
    }
  }
  for (const { operation } of operationsOf(document)) {
    for (const parameter of (operation.parameters ?? []) as ParameterObject[]) {
      parameter.description ??= PARAMETERS[parameter.name];
    }
  }
}

/** In the order in which they are tried: the words before the ending are what it is one of. */
const ENDINGS: readonly (readonly [RegExp, (thing: string) => string])[] = [
  [/Envelope$/, () => 'An answer in its envelope.'],
  [/List$/, () => 'A page of a list.'],
  [/Catalogue$/, () => 'Everything that there is, without pages.'],
  [/OrError$/, () => 'What the address says of itself, or an error before it could.'],
  [/Sort$/, () => 'A field to order by; with a `-` the other way round.'],
  [/Id$/, (thing) => `The id of a ${thing}.`],
  [/^New(\w+)Connector$/, () => 'A connector of this type that is to be set up.'],
  [/^New(\w+)Channel$/, () => 'A notification channel of this type that is to be set up.'],
  [/ChannelConfig$/, () => 'What a notification channel of this type has to know.'],
  [/Config$/, () => 'What a connector of this type has to know.'],
];

function describedByName(name: string): string | undefined {
  const [ending, describe] = ENDINGS.find(([one]) => one.test(name)) ?? [];
  return ending && describe?.(inWords(name.replace(ending, '')));
}

/** `ApiKey` is `API key`. */
const inWords = (name: string): string =>
  name
    .replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())
    .replace('api key', 'key of the API');
