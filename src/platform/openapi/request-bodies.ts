import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/**
 * Says of what a client sends what validation does with it: fields beside the documented ones are refused, and a PUT,
 * which is partial everywhere, has to change something.
 */
export function describeRequestBodies(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaObject>;
  for (const item of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries({ put: item.put, post: item.post })) {
      const names = operation?.requestBody ? referredTo(operation.requestBody) : [];
      const [body] = names.map((name) => schemas[name]);
      if (method === 'put' && body?.properties && !body.required?.length) body.minProperties = 1;
      close(names, schemas, new Set());
    }
  }
}

function close(
  names: readonly string[],
  schemas: Readonly<Record<string, SchemaObject>>,
  seen: Set<string>,
): void {
  for (const name of names) {
    const schema = schemas[name];
    if (!schema || seen.has(name)) continue;
    seen.add(name);
    if (schema.properties && !schema.allOf) schema.additionalProperties ??= false;
    close(referredTo(schema), schemas, seen);
  }
}

/** The names in the order in which they appear: that of a body itself is the first. */
function referredTo(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(REFERENCE)].map(([, name]) => name ?? '');
}
