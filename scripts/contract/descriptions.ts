import type {
  OpenAPIObject,
  ParameterObject,
  ReferenceObject,
  SchemaObject,
} from '@nestjs/swagger';
import { ref } from '../../src/platform/openapi/answers.js';
import { operationsOf } from './schemas.js';

type Words = Readonly<Record<string, string>>;

interface IdInAddress {
  readonly what: string;
  /** Name of the schema of the field. */
  readonly schema: string;
  readonly example?: string;
}

export interface DescriptionsFile {
  readonly tags: Words;
  readonly ids: Readonly<Record<string, IdInAddress>>;
  readonly parameters: Words;
  readonly endings: Words;
  readonly schemas: Words;
  readonly fields: Words;
}

type Kind = Exclude<keyof DescriptionsFile, 'tags'>;

const WORDS: Words = { source: 'name' };
const REFERENCES: Words = { IncidentReference: 'id or the number' };

const nameOf = ({ $ref }: ReferenceObject): string => $ref.replace(/^.*\//, '');

/** True if the reference has no description of its own. */
function addsNothing(
  { allOf: _, ...beside }: SchemaObject,
  { description }: SchemaObject,
): boolean {
  return beside.description === description && Object.keys(beside).length === 1;
}

/** Matches the summary of a text. A text that lists values has no summary. */
const SUMMARY = /^(?!`?\w+`?:|An open set)[^]*?\.(?= )/;
const DEFAULT = / Default: `[^`]*`\.$/;

/** Shortens the text of a field to its summary if a schema with a shorter name has the same text for the same field. */
function shortenRepeated(schemas: Readonly<Record<string, SchemaObject>>): void {
  const said = new Set<string>();
  const shortestFirst = Object.entries(schemas).sort(([a], [b]) => a.length - b.length);
  for (const [field, property] of shortestFirst.flatMap(([, { properties = {} }]) =>
    Object.entries(properties),
  )) {
    if ('$ref' in property || !property.description) continue;
    const { description } = property;
    const [summary = description] = SUMMARY.exec(description) ?? [];
    const [ending = ''] = DEFAULT.exec(description.slice(summary.length)) ?? [];
    if (said.has(`${field} ${description}`)) property.description = summary + ending;
    said.add(`${field} ${description}`);
  }
}

/** Adds descriptions to the parts of the document that have none. */
export class Descriptions {
  private readonly used = new Set<string>();

  constructor(private readonly file: DescriptionsFile) {}

  describeTags(document: OpenAPIObject): void {
    document.tags = Object.entries(this.file.tags).map(([name, description]) => ({
      name,
      description,
    }));
  }

  describeParameters(document: OpenAPIObject): void {
    for (const { path, operation } of operationsOf(document)) {
      for (const parameter of (operation.parameters ?? []) as ParameterObject[]) {
        if (parameter.in === 'path') this.describeId(parameter, path);
        else parameter.description ??= this.take('parameters', parameter.name);
      }
    }
  }

  describeSchemas({ components }: OpenAPIObject): void {
    const schemas = (components?.schemas ?? {}) as Record<string, SchemaObject>;
    for (const [name, schema] of Object.entries(schemas)) {
      const ending = Object.keys(this.file.endings).find((end) => name.endsWith(end));
      schema.description = this.take('schemas', name) ?? schema.description;
      schema.description ??= this.take('endings', ending);
    }
    for (const [name, { properties = {} }] of Object.entries(schemas)) {
      for (const [field, property] of Object.entries(properties)) {
        if ('$ref' in property) continue;
        property.description ??= this.take('fields', `${name}.${field}`);
        const [reference] = (property.allOf ?? []) as ReferenceObject[];
        property.description ??= reference
          ? schemas[nameOf(reference)]!.description
          : this.take('fields', field);
        if (reference && addsNothing(property, schemas[nameOf(reference)]!)) {
          properties[field] = reference;
        }
      }
    }
    shortenRepeated(schemas);
  }

  refuseUnused(): void {
    const all = Object.entries(this.file).flatMap(([kind, descriptions]) =>
      Object.keys(descriptions as object).map((name) => `${kind} ${name}`),
    );
    const unused = all.filter((name) => !name.startsWith('tags ') && !this.used.has(name));
    if (unused.length > 0) throw new Error(`Unused descriptions: ${unused.join(', ')}.`);
  }

  private take<K extends Kind>(kind: K, name = ''): DescriptionsFile[K][string] | undefined {
    this.used.add(`${kind} ${name}`);
    return this.file[kind][name] as DescriptionsFile[K][string] | undefined;
  }

  private describeId(parameter: ParameterObject, path: string): void {
    const segment = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!;
    const id = this.take('ids', segment);
    if (!id) throw new Error(`${path}: ids of openapi/descriptions.yaml have no ${segment}.`);
    const word = WORDS[parameter.name] ?? REFERENCES[id.schema] ?? 'id';
    parameter.description ??= `The ${word} of the ${id.what}.`;
    // Keeps a named schema of the handler, because its description is more precise.
    const isNamed = parameter.schema && 'title' in parameter.schema;
    if (!isNamed) parameter.schema = ref(id.schema);
    if (id.example) parameter.example ??= id.example;
  }
}
