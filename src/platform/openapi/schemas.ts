import type { OpenAPIObject } from '@nestjs/swagger';

const SUFFIX = /Dto$/;
const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/** Calls the schemas what they describe: that a class of ours makes them is no business of those who generate a client. */
export function nameSchemas(document: OpenAPIObject): OpenAPIObject {
  const names = Object.keys(document.components?.schemas ?? {});
  const renamed = new Map(names.map((name) => [name, name.replace(SUFFIX, '')]));
  if (new Set(renamed.values()).size < names.length) {
    throw new Error('Two schemas have the same name but for Dto.');
  }
  const text = JSON.stringify(document).replace(
    REFERENCE,
    (_, name: string) => `"#/components/schemas/${renamed.get(name) ?? name}"`,
  );
  const result = JSON.parse(text) as OpenAPIObject;
  const schemas = Object.entries(result.components?.schemas ?? {});
  result.components = {
    ...result.components,
    schemas: Object.fromEntries(
      schemas.map(([name, schema]) => [renamed.get(name)!, schema] as const),
    ),
  };
  return result;
}
