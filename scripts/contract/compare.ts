import { compareSchemas } from './compare-schemas.ts';
import {
  type Content,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  reachable,
  type Schema,
} from './document.ts';

/**
 * What breaks a client that was generated from `before`, one line each. An operationId, a path and the name of a schema
 * are names in generated code: they never change.
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const changes: string[] = [];
  const report = (kind: string, place: string): void => void changes.push(`${kind} ${place}`);
  const present = new Map(operationsOf(after).map((placed) => [nameOf(placed), placed]));
  for (const placed of operationsOf(before)) {
    const now = present.get(nameOf(placed));
    if (!now) report('operation-removed', nameOf(placed));
    else compareOperations(placed.operation, now.operation, report);
  }
  compareComponents(before, after, report);
  return [...new Set(changes)].sort();
}

type Report = (kind: string, place: string) => void;

const nameOf = ({ operation, method, path }: PlacedOperation): string =>
  `${operation.operationId} ${method} ${path}`;

function compareOperations(before: Operation, after: Operation, report: Report): void {
  const id = before.operationId;
  compareParameters(before.parameters ?? [], after.parameters ?? [], id, report);
  if (after.requestBody?.required && !before.requestBody?.required) report('body-required', id);
  const sent = { sent: true, received: false };
  compareContent(before.requestBody?.content, after.requestBody?.content, `${id} body`, (was, is) =>
    compareSchemas(was, is, `${id} body`, sent, report),
  );
  for (const [status, answer] of Object.entries(before.responses)) {
    const place = `${id} ${status}`;
    const now = after.responses[status];
    if (!now && status.startsWith('2')) report('success-status-removed', place);
    if (!now) continue;
    const received = { sent: false, received: true };
    compareContent(answer.content, now.content, place, (was, is) =>
      compareSchemas(was, is, place, received, report),
    );
  }
  for (const way of before.security ?? []) {
    const kept = after.security?.some((other) => sameKeys(way, other)) ?? false;
    if (!kept && after.security?.length)
      report('security-removed', `${id} ${Object.keys(way).join('+')}`);
  }

  function compareContent(
    was: Content | undefined,
    is: Content | undefined,
    place: string,
    compare: (before: Schema, after: Schema) => void,
  ): void {
    for (const [type, media] of Object.entries(was ?? {})) {
      const now = is?.[type];
      if (!now) report('content-type-removed', `${place} ${type}`);
      else compare(media.schema ?? {}, now.schema ?? {});
    }
  }
}

function compareParameters(
  before: readonly Parameter[],
  after: readonly Parameter[],
  id: string,
  report: Report,
): void {
  const key = (parameter: Parameter): string => `${id} ${parameter.in} ${parameter.name}`;
  const was = new Map(before.map((parameter) => [key(parameter), parameter]));
  const is = new Map(after.map((parameter) => [key(parameter), parameter]));
  for (const [place, parameter] of was) {
    const now = is.get(place);
    // Parameters that the service does not know are refused: a removed one breaks whoever sends it.
    if (!now) report('parameter-removed', place);
    else {
      const use = { sent: true, received: false };
      compareSchemas(parameter.schema ?? {}, now.schema ?? {}, place, use, report);
    }
  }
  for (const [place, parameter] of is) {
    if (parameter.required && !was.get(place)?.required) report('parameter-required', place);
  }
}

function compareComponents(before: OpenApiDocument, after: OpenApiDocument, report: Report): void {
  const operations = operationsOf(before).map(({ operation }) => operation);
  const sent = reachable(
    operations.map(({ requestBody, parameters }) => [requestBody, parameters]),
    before,
  );
  const received = reachable(
    operations.map(({ responses }) => responses),
    before,
  );
  for (const [name, schema] of Object.entries(before.components?.schemas ?? {})) {
    const now = after.components?.schemas?.[name];
    if (!now) report('schema-removed', name);
    else {
      const use = { sent: sent.has(name), received: received.has(name) };
      compareSchemas(schema, now, name, use, report);
    }
  }
}

const sameKeys = (a: object, b: object): boolean =>
  Object.keys(a).sort().join() === Object.keys(b).sort().join();
