import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { withPartsInPlace } from '../../scripts/contract/document.js';
import type { OpenApiSchema } from './contract-check-schema.js';

export interface DocumentedResponse {
  readonly content?: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: OpenApiSchema }>
  >;
}

export interface DocumentedOperation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const PATH = resolve(__dirname, '../../openapi/openapi.json');
let contract: ContractDocument | undefined;

/** The committed document is what clients have: the answers are held against it, not against the code. */
export function readContract(): ContractDocument {
  return (contract ??= withPartsInPlace(JSON.parse(readFileSync(PATH, 'utf8'))));
}

export interface DocumentedPath {
  readonly template: string;
  readonly operations: Readonly<Record<string, DocumentedOperation>>;
}

/** Finds the path template of an address; a fixed segment goes before a parameter, as in the router. */
export class DocumentedPaths {
  private readonly byTemplate: readonly (DocumentedPath & { readonly pattern: RegExp })[];

  constructor({ paths }: ContractDocument) {
    this.byTemplate = Object.entries(paths)
      .map(([template, operations]) => ({ template, operations, pattern: patternOf(template) }))
      .sort((a, b) => (rank(a.template) < rank(b.template) ? -1 : 1));
  }

  find(path: string): DocumentedPath | undefined {
    return this.byTemplate.find(({ pattern }) => pattern.test(path));
  }
}

function patternOf(template: string): RegExp {
  const source = template
    .split('/')
    .map((segment) => segment.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]*'))
    .join('/');
  return new RegExp(`^${source}$`);
}

/** Sorts `{parameter}` behind every fixed segment. */
function rank(template: string): string {
  return template.replaceAll('{', '\uffff');
}
