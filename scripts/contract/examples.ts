import type { MediaTypeObject, OpenAPIObject, OperationObject } from '@nestjs/swagger';
import type { ErrorCode } from '../../src/platform/errors/error-catalogue.js';

/** Request and response that the story test recorded. */
export interface RecordedExample {
  readonly summary: string;
  readonly status: number;
  /** Media type of the response, if this status has several media types. */
  readonly media?: string;
  readonly body?: unknown;
  /** Response. Absent if an earlier example has the same response. */
  readonly answer?: unknown;
}

type RecordedCases = Readonly<Record<string, RecordedExample>>;

export interface RecordedExamples {
  /** Examples by operationId and then by the name of their case. */
  readonly operations: Readonly<Record<string, RecordedCases>>;
  /** An example response for each error code. */
  readonly errors: Readonly<Record<string, unknown>>;
}

type Shown = NonNullable<MediaTypeObject['examples']>;
type Content = Record<string, MediaTypeObject>;

const HTML = 'text/html';
const EXAMPLES = '#/components/examples/';

/** Examples of an error response, one per code, shared by all operations. */
export const errorExamples = (codes: readonly ErrorCode[]): Shown =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `${EXAMPLES}${code}` }]));

/**
 * Adds the recorded examples of all operations. Responses refer to them as components, because openapi-generator treats
 * an inline example as a schema without a name.
 */
export class Examples {
  private readonly components: Shown = {};
  private readonly namesByValue = new Map<string, string>();

  constructor(private readonly recorded: RecordedExamples) {}

  /**
   * Adds the example bodies of successful requests to the operation. Adds each example response to its status, in the
   * order of the story.
   */
  addTo(operation: OperationObject): void {
    const { operationId = '', requestBody, responses } = operation;
    const cases = Object.entries(this.recorded.operations[operationId] ?? {});
    const requests = cases.filter(([, { body, status }]) => body !== undefined && status < 400);
    for (const [, media] of bodiesOf(requestBody)) {
      media.examples = Object.fromEntries(
        requests.map(([name, { summary, body }]) => [name, { summary, value: body }]),
      );
    }
    for (const [status, response] of Object.entries(responses)) {
      const own = cases.filter(([, one]) => String(one.status) === status && 'answer' in one);
      const special = new Set(own.map(([, { media }]) => media));
      for (const [type, media] of bodiesOf(response)) {
        const its = special.has(type) ? type : undefined;
        const ofType = own.filter(([, example]) => example.media === its);
        if (ofType.length === 0) continue;
        media.examples = Object.fromEntries(
          ofType.map(([name, example]) => [name, this.kept(`${operationId}_${name}`, example)]),
        );
      }
    }
  }

  /** Adds the components that operations refer to. */
  finish(document: OpenAPIObject): void {
    const ids = new Set(JSON.stringify(document.paths).match(/(?<="operationId":")\w+/g));
    const unknown = Object.keys(this.recorded.operations).filter((id) => !ids.has(id));
    if (unknown.length > 0) throw new Error(`Examples of no operation: ${unknown.join(', ')}.`);
    const text = JSON.stringify(document);
    const errors = Object.entries(this.recorded.errors).filter(([code]) =>
      text.includes(`"${EXAMPLES}${code}"`),
    );
    const shared = Object.fromEntries(errors.map(([code, value]) => [code, { value }]));
    document.components = { ...document.components, examples: { ...this.components, ...shared } };
  }

  /** Returns a reference to the example, or to an earlier example with the same value. */
  private kept(name: string, { summary, answer }: RecordedExample): { $ref: string } {
    const text = JSON.stringify(answer);
    const known = this.namesByValue.get(text) ?? name;
    this.namesByValue.set(text, known);
    this.components[known] ??= { summary, value: answer };
    return { $ref: `${EXAMPLES}${known}` };
  }
}

/** Bodies with examples, by media type. */
function bodiesOf(owner: unknown): [string, MediaTypeObject][] {
  const { content = {} } = (owner ?? {}) as { content?: Content };
  return Object.entries(content).filter(([type]) => type !== HTML);
}
