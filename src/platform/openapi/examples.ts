import type { MediaTypeObject, OpenAPIObject, OperationObject } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { ERROR_EXAMPLES } from './error-examples.js';
import type { ExamplesByCase, OperationExample, OperationExamples } from './operation-examples.js';

type Shown = NonNullable<MediaTypeObject['examples']>;
type Content = Record<string, MediaTypeObject>;

/** Pages are for people: an example of one tells a program nothing. */
const HTML = 'text/html';
const EXAMPLES = '#/components/examples/';

/** What the errors of an operation refer to where its own examples do not show them: one example of each code. */
export const errorExamples = (codes: readonly ErrorCode[]): Shown =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `${EXAMPLES}${code}` }]));

/**
 * Puts the examples of an operation to its bodies: what succeeds to the request, each answer to its status. The order of
 * the cases stays, since tools show the first.
 */
export function addExamples(
  operation: OperationObject,
  cases: ExamplesByCase = {},
  components: Shown = {},
): void {
  const named = Object.entries(cases);
  const requests = named.filter(([, { body, status }]) => body !== undefined && status < 400);
  for (const media of bodiesOf(operation.requestBody)) {
    media.examples = shown(requests, ({ body }) => body);
  }
  const answered = new Set(named.map(([, { status }]) => String(status)));
  for (const [status, response] of Object.entries(operation.responses)) {
    answered.delete(status);
    const own = named.filter(([, example]) => String(example.status) === status);
    const examples = shown(own, ({ answer }) => answer);
    for (const media of bodiesOf(response)) {
      const shared = Object.entries(media.examples ?? {});
      const codes = new Set(own.map(([, { answer }]) => codeOf(answer)));
      const others = shared.filter(([code]) => !codes.has(code));
      const referred = kept(examples, operation.operationId!, components);
      media.examples = { ...referred, ...Object.fromEntries(others) };
      if (Object.keys(media.examples ?? {}).length === 0) {
        throw new Error(
          `${operation.operationId} has no example with status ${status}: add one to the module's *.examples.ts.`,
        );
      }
    }
  }
  if (answered.size > 0) {
    throw new Error(`${operation.operationId} never answers ${[...answered].join()}.`);
  }
}

/** The bodies that examples are shown for. */
function bodiesOf(owner: unknown): MediaTypeObject[] {
  const { content = {} } = (owner ?? {}) as { content?: Content };
  return Object.entries(content)
    .filter(([type]) => type !== HTML)
    .map(([, media]) => media);
}

/** The same body is shown once, under the name of the first case that has it. */
function shown(
  named: readonly [string, OperationExample][],
  pick: (example: OperationExample) => unknown,
): Shown {
  const seen = new Set<string>();
  const fresh = named.filter(([, example]) => {
    const text = JSON.stringify(pick(example));
    return !seen.has(text) && seen.add(text);
  });
  return Object.fromEntries(
    fresh.map(([name, example]) => [name, { summary: example.summary, value: pick(example) }]),
  );
}

/**
 * Examples of answers are components: openapi-generator takes those that stand in an answer for a schema without a name.
 */
function kept(shownHere: Shown, operationId: string, components: Shown): Shown {
  return Object.fromEntries(
    Object.entries(shownHere).map(([name, example]) => {
      const component = `${operationId}_${name}`;
      components[component] = example;
      return [name, { $ref: `${EXAMPLES}${component}` }];
    }),
  );
}

const codeOf = (answer: unknown) => (answer as { error?: { code?: string } }).error?.code;

/** Adds those of the shared examples of errors that an operation refers to. */
export function shareErrorExamples(document: OpenAPIObject, components: Shown): void {
  const paths = JSON.stringify(document.paths);
  const used = Object.entries(ERROR_EXAMPLES).filter(([code]) =>
    paths.includes(`"${EXAMPLES}${code}"`),
  );
  const examples = Object.fromEntries(used.map(([code, value]) => [code, { value }]));
  document.components = { ...document.components, examples: { ...components, ...examples } };
}

/** One list of all modules' examples. An operation that two of them know is a mistake. */
export function gathered(all: readonly OperationExamples[]): OperationExamples {
  const result: Record<string, ExamplesByCase> = {};
  for (const [id, cases] of all.flatMap((examples) => Object.entries(examples))) {
    if (result[id]) throw new Error(`The examples of ${id} are there twice.`);
    result[id] = cases;
  }
  return result;
}
