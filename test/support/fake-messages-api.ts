import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { failure, type FakeAnswer } from './fake-messages-answers.js';
import { flood, LoopbackServer } from './loopback-server.js';

/** Value of a header that the installed version of the library sends. */
const VERSION = '2026-10-21';

const FIELDS = [
  'max_tokens',
  'messages',
  'model',
  'output_config',
  'system',
  'tool_choice',
  'tools',
];

interface MessagesRequest {
  readonly max_tokens: number;
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly Record<string, unknown>[];
  }[];
  readonly output_config?: {
    readonly format?: { readonly type?: unknown; readonly schema?: unknown };
  };
  readonly system: readonly { readonly text: string; readonly cache_control?: unknown }[];
  readonly tool_choice?: { readonly type: string };
  readonly tools?: readonly { readonly name: string; readonly input_schema: { type?: unknown } }[];
}

/** Returns status and type of the error if the protocol refuses the request. */
function refusalOf(
  key: string,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: MessagesRequest | undefined,
): { readonly status: number; readonly type: string; readonly message: string } | undefined {
  const refuse = (message: string) => ({ status: 400, type: 'invalid_request_error', message });
  if (method !== 'POST' || !url?.endsWith('/v1/messages')) {
    return { status: 404, type: 'not_found_error', message: 'There is no such address.' };
  }
  if (headers.authorization !== `Bearer ${key}`) {
    return { status: 401, type: 'authentication_error', message: 'The key is wrong.' };
  }
  if (headers['anthropic-version'] !== VERSION) return refuse('anthropic-version');
  if (headers['content-type'] !== 'application/json') return refuse('content-type');
  if (!body) return refuse('no JSON');
  const problem = bodyProblem(body);
  return problem === undefined ? undefined : refuse(problem);
}

function bodyProblem(body: MessagesRequest): string | undefined {
  const unknown = Object.keys(body).filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0) return `unknown fields: ${unknown.join(', ')}`;
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) return 'max_tokens';
  if (!body.model) return 'model';
  const { format } = body.output_config ?? {};
  if (format?.type !== 'json_schema' || typeof format.schema !== 'object') return 'output_config';
  if (!body.system.every(({ cache_control: mark }) => isEphemeral(mark))) return 'cache_control';
  if (body.tools?.some((tool) => tool.input_schema.type !== 'object')) return 'input_schema';
  return turnProblem(body);
}

function isEphemeral(mark: unknown): boolean {
  return JSON.stringify(mark) === '{"type":"ephemeral"}';
}

/** Returns a problem unless each turn answers all questions of the model and no message is empty. */
function turnProblem({ messages }: MessagesRequest): string | undefined {
  if (messages[0]?.role !== 'user') return 'the first turn is not of the user';
  let open: unknown[] = [];
  for (const { role, content } of messages) {
    if (content.length === 0) return 'an empty message';
    const blocks = typeof content === 'string' ? [] : content;
    const answered = blocks.filter(({ type }) => type === 'tool_result');
    const ids = answered.map(({ tool_use_id: id }) => id);
    if (role === 'user' && ids.join() !== open.join()) return 'questions without an answer';
    open = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  }
  return undefined;
}

export interface SeenMessagesRequest {
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly body: MessagesRequest;
  /** Body as received. */
  readonly text: string;
}

const MEGABYTE = 'x'.repeat(1_048_576);

/**
 * Provider that listens and speaks the Messages protocol, like the installed version of the library. Tests set its
 * answers in advance. It rejects requests that the real provider would reject.
 */
export class FakeMessagesApi extends LoopbackServer {
  readonly key = 'key-that-nobody-may-see';
  readonly requests: SeenMessagesRequest[] = [];
  /** Reasons of rejected requests. Empty if every request followed the protocol. */
  readonly refused: string[] = [];
  /** Called when a request has arrived, before the response. */
  whenAsked: ((request: SeenMessagesRequest) => void) | undefined;
  /** Called after the response, or when the client has disconnected. */
  whenOver: ((request: SeenMessagesRequest) => void) | undefined;
  private turns: FakeAnswer[] = [];

  static async start(): Promise<FakeMessagesApi> {
    return await new FakeMessagesApi().start();
  }

  /** Sets the responses to the next requests. The last response is repeated. */
  script(...turns: readonly [FakeAnswer, ...FakeAnswer[]]): void {
    this.turns = [...turns];
  }

  forget(): void {
    this.requests.length = 0;
    this.refused.length = 0;
    this.whenAsked = undefined;
    this.whenOver = undefined;
    this.turns = [];
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const body = parsed(text);
    const refusal = refusalOf(this.key, request, body);
    const { headers, url: path = '' } = request;
    const seen = { headers, path, body: body as MessagesRequest, text };
    this.requests.push(seen);
    this.whenAsked?.(seen);
    response.once('close', () => this.whenOver?.(seen));
    if (refusal) {
      this.refused.push(refusal.message);
      return send(response, failure(refusal.status, refusal.type));
    }
    const turn = this.turns.length > 1 ? this.turns.shift() : this.turns[0];
    send(response, turn ?? failure(500, 'api_error'));
  }
}

function send(response: ServerResponse, answer: FakeAnswer): void {
  switch (answer.kind) {
    case 'hang':
      return;
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":', () => response.socket?.destroy());
      return;
    case 'huge':
      response.writeHead(200, { 'content-type': 'application/json' });
      return flood(response, MEGABYTE);
    case 'answer': {
      const { status, body, headers, afterMs = 0 } = answer;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const whole = (): void => {
        if (response.destroyed) return;
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(text);
      };
      if (afterMs > 0) setTimeout(whole, afterMs);
      else whole();
    }
  }
}

function parsed(text: string): MessagesRequest | undefined {
  try {
    return JSON.parse(text) as MessagesRequest;
  } catch {
    return undefined;
  }
}
