import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from '@nestjs/swagger';

type Named = Record<string, unknown>;

/** What many operations have in the same words is written once, among the components, and referred to. */
export function shareParts(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((item) =>
    [item.get, item.post, item.put, item.delete].filter((one) => one !== undefined),
  );
  const schemas = new Set(Object.keys(document.components?.schemas ?? {}));
  const headers = shareHeaders(operations);
  const responses = shareResponses(operations);
  const parameters = shareParameters(operations);
  for (const name of [...Object.keys(responses), ...Object.keys(parameters)]) {
    // Generated code has one name space for all kinds of components.
    if (schemas.has(name)) throw new Error(`Two components are called ${name}.`);
  }
  document.components = { ...document.components, headers, responses, parameters } as never;
  return document;
}

function shareHeaders(operations: readonly OperationObject[]): Named {
  const shelf = new Shelf('headers');
  const owners = operations.flatMap(
    ({ responses }) => Object.values(responses) as ResponseObject[],
  );
  for (const { headers = {} } of owners) {
    for (const [name, header] of Object.entries(headers)) shelf.count(pascal(name), header);
  }
  for (const { headers = {} } of owners) {
    for (const [name, header] of Object.entries(headers)) {
      headers[name] = shelf.shared(pascal(name), header) as never;
    }
  }
  return shelf.components;
}

/** Only errors: what an operation answers when all goes well is its own. */
function shareResponses(operations: readonly OperationObject[]): Named {
  // Operations that are open to all have the same errors without the headers of limits.
  const shelf = new Shelf('responses', ['', 'Unlimited']);
  const errors = operations.flatMap(({ responses }) =>
    Object.keys(responses)
      .filter((status) => Number(status) >= 400)
      .map((status) => ({ responses, status })),
  );
  for (const { responses, status } of errors)
    shelf.count(nameOf(responses[status]), responses[status]);
  for (const { responses, status } of errors) {
    responses[status] = shelf.shared(nameOf(responses[status]), responses[status]) as never;
  }
  return shelf.components;
}

/** Of the codes that it may have: `ValidationErrorOrIdempotencyKeyReusedAnswer`. */
function nameOf(response: unknown): string {
  const [body] = Object.values((response as ResponseObject).content ?? {});
  return `${Object.keys(body?.examples ?? {})
    .map(pascal)
    .join('Or')}Answer`;
}

function shareParameters(operations: readonly OperationObject[]): Named {
  const shelf = new Shelf('parameters');
  const all = operations.flatMap(({ parameters = [] }) => parameters as ParameterObject[]);
  for (const parameter of all) shelf.count(nameIn(parameter), parameter);
  for (const operation of operations) {
    operation.parameters = (operation.parameters as ParameterObject[] | undefined)?.map(
      (parameter) => shelf.shared(nameIn(parameter), parameter) as never,
    );
  }
  return shelf.components;
}

/** After its schema where that has a name: ids and words to sort by are called the same everywhere. */
function nameIn(parameter: ParameterObject): string {
  const { $ref } = (parameter.schema ?? {}) as { $ref?: string };
  return `${$ref?.split('/').at(-1) ?? pascal(parameter.name)}${pascal(parameter.in)}`;
}

const pascal = (name: string): string =>
  name.replace(/(?:^|[-_ ])(\w)/g, (_, first: string) => first.toUpperCase());

/**
 * Counts what is there under a name. Of several that differ the one that is there most often gets the name, the next ones
 * get it with the endings there are; the others, and what is there only once, stay where they are.
 */
class Shelf {
  readonly components: Named = {};
  private readonly counts = new Map<string, Map<string, number>>();

  constructor(
    private readonly kind: string,
    private readonly endings: readonly string[] = [''],
  ) {}

  count(name: string, part: unknown): void {
    const texts = this.counts.get(name) ?? new Map<string, number>();
    const text = JSON.stringify(part);
    this.counts.set(name, texts.set(text, (texts.get(text) ?? 0) + 1));
  }

  shared(name: string, part: unknown): unknown {
    const text = JSON.stringify(part);
    const variants = [...this.counts.get(name)!].toSorted(([, a], [, b]) => b - a);
    const at = variants.findIndex(([other, times]) => other === text && times > 1);
    const ending = this.endings[at];
    if (ending === undefined) return part;
    this.components[name + ending] ??= part;
    return { $ref: `#/components/${this.kind}/${name}${ending}` };
  }
}
