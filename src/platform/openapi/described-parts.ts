import type { OpenAPIObject, ParameterObject } from '@nestjs/swagger';

/** What the groups of operations are about, in the order in which a reader meets them. */
const TAGS: Readonly<Record<string, string>> = {
  Incidents: 'Security incidents, their verdicts and what happened to them.',
  Actions: 'What is done about an incident, or directly: requested, carried out, rolled back.',
  Approvals: 'The consent of people that some actions wait for.',
  'Kill switch': 'Stops every effect on the outside until it is turned off again.',
  Connectors: 'The tools that carry actions out.',
  Access: 'Keys, users, sessions, and who one is.',
  Audit: 'Who did what, in a trail whose changes are found.',
  System: 'Health, metrics, failed jobs and this document.',
};

/** What stands for the last fixed part of an address before `{id}`. */
const RESOURCES: Readonly<Record<string, string>> = {
  'api-keys': 'API key',
  dead: 'job',
};

/** Tells in words what its operations' groups and addresses are about, where the handlers do not. */
export function describeParts(document: OpenAPIObject): void {
  const used = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of [item.get, item.post, item.put, item.delete]) {
      for (const tag of operation?.tags ?? []) used.add(tag);
      for (const parameter of operation?.parameters ?? []) {
        if ('in' in parameter && parameter.in === 'path') describe(parameter, path);
      }
    }
  }
  const unknown = [...used].filter((name) => !Object.hasOwn(TAGS, name));
  if (unknown.length > 0) throw new Error(`Without a description: the tag ${unknown.join(', ')}.`);
  document.tags = Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

function describe(parameter: ParameterObject, path: string): void {
  const segment = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!;
  const resource = RESOURCES[segment] ?? segment.replace(/s$/, '');
  parameter.description ??= `The ${parameter.name} of the ${resource}. A malformed one is answered like an unknown one.`;
}
