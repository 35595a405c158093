import type { OpenAPIObject, ParameterObject } from '@nestjs/swagger';
import { operationsOf } from './schemas.js';

/** Descriptions that a module adds to those of its DTOs and controllers. */
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

/** One kind of descriptions of all modules. */
export class Descriptions<Value = string> {
  private readonly all: ReadonlyMap<string, Value>;
  private readonly unused: Set<string>;

  constructor(
    private readonly kind: Exclude<keyof ModuleContract, 'tags'>,
    contracts: readonly ModuleContract[],
  ) {
    const parts = contracts.map((one) => (one[kind] ?? {}) as Readonly<Record<string, Value>>);
    this.all = new Map(parts.flatMap((part) => Object.entries(part)));
    this.unused = new Set(this.all.keys());
  }

  of(name: string): Value | undefined {
    this.unused.delete(name);
    return this.all.get(name);
  }

  /** Throws if the contract did not need a description. */
  refuseUnused(): void {
    if (this.unused.size === 0) return;
    throw new Error(
      `The contract uses no description of ${this.kind}: ${[...this.unused].join(', ')}.`,
    );
  }
}

const WORDS: Readonly<Record<string, string>> = { source: 'name' };
const REFERENCES: Readonly<Record<string, string>> = { IncidentReference: 'id or the number' };

/** Describes the groups of operations, and the ids in addresses without a description. */
export function describeTagsAndIds(
  document: OpenAPIObject,
  contracts: readonly ModuleContract[],
): void {
  const tags = contracts.flatMap((one) => Object.entries(one.tags ?? {}));
  const ids = new Descriptions<IdInAddress>('ids', contracts);
  const used = new Set<string>();
  for (const { path, operation } of operationsOf(document)) {
    for (const tag of operation.tags ?? []) used.add(tag);
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'path') describeId(parameter, path, ids);
    }
  }
  ids.refuseUnused();
  const described = new Set(tags.map(([name]) => name));
  const odd = [...used, ...described].filter((name) => !(used.has(name) && described.has(name)));
  if (odd.length > 0) throw new Error(`Tags without a description or a use: ${odd.join(', ')}.`);
  document.tags = tags.map(([name, description]) => ({ name, description }));
}

function describeId(
  parameter: ParameterObject,
  path: string,
  ids: Descriptions<IdInAddress>,
): void {
  const segment = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!;
  const id = ids.of(segment);
  if (!id)
    throw new Error(
      `${path}: {${parameter.name}} is not described in the ids of a ModuleContract.`,
    );
  const word = WORDS[parameter.name] ?? REFERENCES[id.schema] ?? 'id';
  parameter.description ??= `The ${word} of the ${id.what}. A malformed one is answered like an unknown one.`;
  // The handler has described it more exactly.
  const isNamed = parameter.schema && 'title' in parameter.schema;
  if (!isNamed) parameter.schema = { $ref: `#/components/schemas/${id.schema}` };
  if (id.example) parameter.example ??= id.example;
}
