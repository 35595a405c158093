import type { OpenAPIObject, ParameterObject } from '@nestjs/swagger';
import { operationsOf } from './placed-operations.js';

/** What a module says in the contract beside its DTOs and controllers. */
export interface ModuleContract {
  /** Groups of operations with their descriptions. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Ids in addresses, by the segment before the id. */
  readonly ids?: Ids;
  /** Descriptions of schemas, by name. */
  readonly schemas?: Readonly<Record<string, string>>;
  /** Descriptions of fields, by `field` or `Schema.field`. */
  readonly fields?: Readonly<Record<string, string>>;
}

type Ids = Readonly<Record<string, IdInAddress>>;

interface IdInAddress {
  readonly what: string;
  /** The name of its schema. */
  readonly schema: string;
  readonly example?: string;
}

export function joined<Value>(
  parts: readonly (Readonly<Record<string, Value>> | undefined)[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(parts.flatMap((part = {}) => Object.entries(part)));
}

/** What in an address is called otherwise in a sentence. */
const WORDS: Readonly<Record<string, string>> = { source: 'name' };
const REFERENCES: Readonly<Record<string, string>> = { IncidentReference: 'id or the number' };

/** Describes the groups of operations, and the ids in addresses without a description. */
export function describeTagsAndIds(
  document: OpenAPIObject,
  contracts: readonly ModuleContract[],
): void {
  const tags = joined(contracts.map((one) => one.tags));
  const ids = joined(contracts.map((one) => one.ids));
  const used = new Set<string>();
  for (const { path, operation } of operationsOf(document)) {
    for (const tag of operation.tags ?? []) used.add(tag);
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'path') describeId(parameter, path, ids);
    }
  }
  const unknown = [...used].filter((name) => !Object.hasOwn(tags, name));
  if (unknown.length > 0) throw new Error(`Without a description: the tag ${unknown.join(', ')}.`);
  document.tags = Object.entries(tags)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

function describeId(parameter: ParameterObject, path: string, ids: Ids): void {
  const segment = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!;
  const id = ids[segment];
  if (!id)
    throw new Error(
      `${path}: say in the ids of a ModuleContract what {${parameter.name}} is the id of.`,
    );
  const word = WORDS[parameter.name] ?? REFERENCES[id.schema] ?? 'id';
  parameter.description ??= `The ${word} of the ${id.what}. A malformed one is answered like an unknown one.`;
  // What its handler says of it is as exact as the handler means it to be.
  const isNamed = parameter.schema && 'title' in parameter.schema;
  if (!isNamed) parameter.schema = { $ref: `#/components/schemas/${id.schema}` };
  if (id.example) parameter.example ??= id.example;
}
