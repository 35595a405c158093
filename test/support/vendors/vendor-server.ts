import { Ajv, type ValidateFunction } from 'ajv';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { LoopbackServer } from '../loopback-server.js';

/** Request as the vendor has parsed it. */
export interface VendorCall {
  readonly method: string;
  /** Decoded path values, by the names in the path of the route. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or the fields of a form. Undefined if there is no body. */
  readonly body: unknown;
  /** Path and query as sent. */
  readonly url: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON body; undefined for no body. */
  readonly body?: unknown;
  /** Plain text instead of JSON. */
  readonly text?: string;
}

/** Request that the vendor documents. A request that differs is rejected and kept in `problems`. */
export interface Route {
  /** Method and path, such as `GET /users/{user}/messages`. A name in braces stands for one segment. */
  readonly on: string;
  /** All permitted query parameters. Each value must equal the text or match the pattern. */
  readonly query?: Readonly<Record<string, string | RegExp>>;
  /** JSON schema of the body; undefined for no body. */
  readonly body?: object;
  /** True if the body is a form. */
  readonly form?: true;
  /** True for requests without credentials, such as the login. */
  readonly open?: true;
  readonly answer: (call: VendorCall) => Reply;
}

/**
 * Behaviour of the vendor instead of its normal response: a status with its error, HTML, or a complete response. `hang`
 * and `drop-after` have the effect before they fail, `drop` has no effect. `fine` is the normal response.
 */
export type Trouble = number | 'fine' | 'html' | 'hang' | 'drop' | 'drop-after' | Reply;

const ajv = new Ajv({ allowUnionTypes: true });

/** Schema of an object with these fields and no others. All of them are required, except the `optional` ones. */
export function objectOf(properties: object, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The common part of all simulated vendors. A vendor adds its routes, its check of credentials and its errors. */
export abstract class VendorServer extends LoopbackServer {
  readonly calls: VendorCall[] = [];
  /** Requests that violate the documentation of the vendor. A test expects none. */
  readonly problems: string[] = [];
  retryAfter = '1';
  private readonly troubles: Trouble[] = [];
  private readonly loginTroubles: Trouble[] = [];
  private readonly troublesAt: { readonly line: RegExp; readonly left: Trouble[] }[] = [];
  private readonly validators = new Map<object, ValidateFunction>();

  protected abstract readonly routes: readonly Route[];
  /** Returns the body of an error in the vendor's documented format. */
  protected abstract errorOf(status: number, message: string): unknown;

  /**
   * True if the headers contain valid credentials. Default: true, for vendors whose address or body contains the
   * secret.
   */
  protected isLetIn(_headers: IncomingMessage['headers']): boolean {
    return true;
  }

  protected override failed(error: unknown): void {
    this.problems.push(String(error));
  }

  /** Sets the behaviour for the next requests in turn, except logins. All later requests get the normal response. */
  play(...troubles: readonly Trouble[]): void {
    this.troubles.push(...troubles);
  }

  /**
   * Sets the behaviour for the next requests that match `line`, such as `POST /users/7/move`. For tests with a running
   * service, in which `play` would also apply to health checks of the connector.
   */
  playAt(line: RegExp, ...troubles: readonly Trouble[]): void {
    this.troublesAt.push({ line, left: [...troubles] });
  }

  playAtLogin(...troubles: readonly Trouble[]): void {
    this.loginTroubles.push(...troubles);
  }

  /** All requests so far except logins, such as `POST /users/7/move`. */
  get lines(): string[] {
    return this.calls
      .filter(({ url }) => !this.isLogin(url))
      .map(({ method, url }) => `${method} ${url}`);
  }

  get logins(): number {
    return this.calls.filter(({ url }) => this.isLogin(url)).length;
  }

  forget(): void {
    this.retryAfter = '1';
    this.calls.length = 0;
    this.problems.length = 0;
    this.troubles.length = 0;
    this.loginTroubles.length = 0;
    this.troublesAt.length = 0;
  }

  protected error(status: number, message = `says ${status}`): Reply {
    return { status, body: this.errorOf(status, message) };
  }

  private isLogin(url: string): boolean {
    const [path] = url.split('?');
    return this.routes.some(({ open, on }) => open && matchOf(on.split(' ')[1]!, path!));
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const text = await textOf(request);
    const found = this.find(method, url);
    if ('problem' in found) return this.refuse(response, 404, found.problem);
    const { route, path, query } = found;
    const trouble = this.nextTrouble(route, `${method} ${url}`);
    if (trouble === 'drop') return void request.socket.destroy();
    const { body, problem } = this.bodyOf(route, headers, text);
    const call: VendorCall = { method, path, query, headers, body, url };
    this.calls.push(call);
    if (problem) return this.refuse(response, 400, problem);
    if (!route.open && !this.isLetIn(headers)) return write(response, this.error(401));
    if (typeof trouble === 'number') return write(response, this.troubled(trouble));
    if (typeof trouble === 'object') return write(response, trouble);
    if (trouble === 'html') return writeHtml(response);
    const reply = route.answer(call);
    if (trouble === 'hang') return;
    if (trouble === 'drop-after') return void request.socket.destroy();
    write(response, reply);
  }

  private nextTrouble({ open }: Route, line: string): Trouble {
    const meant = this.troublesAt.find((one) => one.left.length > 0 && one.line.test(line));
    return (meant?.left ?? (open ? this.loginTroubles : this.troubles)).shift() ?? 'fine';
  }

  private troubled(status: number): Reply {
    const asks = status === 429 || status === 503;
    return { ...this.error(status), ...(asks && { headers: { 'retry-after': this.retryAfter } }) };
  }

  private refuse(response: ServerResponse, status: number, problem: string): void {
    this.problems.push(problem);
    write(response, this.error(status, problem));
  }

  private find(
    method: string,
    url: string,
  ): (Pick<VendorCall, 'path' | 'query'> & { route: Route }) | { problem: string } {
    const [rawPath = '', rawQuery = ''] = url.split('?');
    const query = Object.fromEntries(new URLSearchParams(rawQuery));
    /** Problem of the first route with this path. Several routes may have the same path. */
    let wrong: string | undefined;
    for (const route of this.routes) {
      const [itsMethod, itsPath] = route.on.split(' ');
      const path = itsMethod === method ? matchOf(itsPath!, rawPath) : undefined;
      if (!path) continue;
      const problem = queryProblem(route, query);
      if (!problem) return { route, path, query };
      wrong ??= `${method} ${url}: ${problem}`;
    }
    return { problem: wrong ?? `There is no ${method} ${rawPath}.` };
  }

  private bodyOf(
    route: Route,
    headers: IncomingMessage['headers'],
    text: string,
  ): { body?: unknown; problem?: string } {
    const name = route.on;
    if (!route.body) return text === '' ? {} : { problem: `${name} takes no body.` };
    const type = route.form ? 'application/x-www-form-urlencoded' : 'application/json';
    if (headers['content-type']?.split(';')[0] !== type) {
      return { problem: `${name} takes ${type}, not ${headers['content-type']}.` };
    }
    let body: unknown;
    try {
      body = route.form ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
    } catch {
      return { problem: `The body of ${name} is no JSON.` };
    }
    const validate = this.validators.get(route.body) ?? ajv.compile(route.body);
    this.validators.set(route.body, validate);
    if (validate(body)) return { body };
    return { body, problem: `The body of ${name}: ${ajv.errorsText(validate.errors)}` };
  }
}

/** Values of the names in the path of a route; undefined if the path does not match. */
function matchOf(route: string, path: string): Record<string, string> | undefined {
  const names = route.split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return undefined;
  const values: [string, string][] = [];
  for (const [at, name] of names.entries()) {
    const part = decodeURIComponent(parts[at]!);
    if (name.startsWith('{')) values.push([name.slice(1, -1), part]);
    else if (name !== part) return undefined;
  }
  return Object.fromEntries(values);
}

function queryProblem({ query = {} }: Route, given: Record<string, string>): string | undefined {
  const wrong = Object.entries(query).find(([name, expected]) => {
    const value = given[name];
    if (value === undefined) return true;
    return typeof expected === 'string' ? value !== expected : !expected.test(value);
  });
  if (wrong) return `The query has a wrong ${wrong[0]}.`;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(query, name));
  return unknown === undefined ? undefined : `The query has an unknown ${unknown}.`;
}

function write(response: ServerResponse, { status, headers, body, text }: Reply): void {
  if (text === undefined && body === undefined) {
    return void response.writeHead(status, headers).end();
  }
  const type = text === undefined ? 'application/json' : 'text/plain';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text ?? JSON.stringify(body));
}

function writeHtml(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>');
}
