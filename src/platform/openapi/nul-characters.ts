import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './placed-operations.js';

/** Text without a NUL character, which no database stores; in the words that all languages have for patterns. */
const WITHOUT_NUL = '^[^\\x00]*$';

type Json = Record<string, unknown>;

/** What says more of a text than that it is one; a pattern of its own leaves NUL out. */
const SAYS_MORE = ['pattern', 'format', 'enum', 'x-extensible-enum'];
/** What holds no schema. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'x-extensible-enum']);

/** How a password is shown says nothing of its letters. */
const saysMore = (part: Json): boolean =>
  SAYS_MORE.some((key) => key in part && part[key] !== 'password');

/** Says of every text in bodies and queries that it has no NUL character: those that have one are refused. */
export function leaveOutNul(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Readonly<Record<string, Json>>;
  const seen = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const part = value as Json;
    if (typeof part['$ref'] === 'string') {
      const name = part['$ref'].replace('#/components/schemas/', '');
      if (seen.has(name)) return;
      seen.add(name);
      return visit(schemas[name]);
    }
    if (part['type'] === 'string' && !saysMore(part)) part['pattern'] = WITHOUT_NUL;
    for (const [key, child] of Object.entries(part)) if (!VALUES.has(key)) visit(child);
  };
  for (const { operation } of operationsOf(document)) {
    visit(operation.requestBody);
    // Pages, health and receipts ignore what is in their query.
    if (!operation.security?.length) continue;
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'query') visit(parameter.schema);
    }
  }
}
