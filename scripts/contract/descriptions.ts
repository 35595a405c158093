import type { OpenAPIObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { ref } from '../../src/platform/openapi/answers.js';
import { operationsOf } from './schemas.js';

type Words = Readonly<Record<string, string>>;

interface IdInAddress {
  readonly what: string;
  /** The name of its schema. */
  readonly schema: string;
  readonly example?: string;
}

/** The content of `openapi/descriptions.yaml`. */
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

/** Describes the parts of the document without a description of their own. */
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
    const schemas = Object.entries((components?.schemas ?? {}) as Record<string, SchemaObject>);
    for (const [name, schema] of schemas) {
      const ending = Object.keys(this.file.endings).find((end) => name.endsWith(end));
      schema.description ??= this.take('schemas', name) ?? this.take('endings', ending);
      for (const [field, property] of Object.entries(schema.properties ?? {})) {
        if ('$ref' in property) continue;
        property.description ??=
          this.take('fields', `${name}.${field}`) ?? this.take('fields', field);
      }
    }
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
    parameter.description ??= `The ${word} of the ${id.what}. A malformed one is answered like an unknown one.`;
    // The handler has described it more exactly.
    const isNamed = parameter.schema && 'title' in parameter.schema;
    if (!isNamed) parameter.schema = ref(id.schema);
    if (id.example) parameter.example ??= id.example;
  }
}
