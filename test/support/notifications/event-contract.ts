import { Ajv2019 } from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { componentSchemas, readContract, SCHEMAS_ID } from '../contract-check-document.js';

const { schemas } = readContract().components;
const ajv = new Ajv2019({ allErrors: true, strict: false });
addFormats(ajv);
ajv.addSchema(componentSchemas(schemas));

/** Returns the name of an event schema: IncidentCreatedEvent for `incident.created`. */
export function schemaNameOf(type: string): string {
  const words = type.split(/[._]/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

/** Differences between an event and its schema in the contract. */
export function eventSchemaErrors(event: { readonly type: string }): unknown[] {
  const name = schemaNameOf(event.type);
  if (!schemas[name]) return [`The contract has no ${name}.`];
  const validate = ajv.getSchema(`${SCHEMAS_ID}#/$defs/${name}`)!;
  void validate(event);
  return validate.errors ?? [];
}
