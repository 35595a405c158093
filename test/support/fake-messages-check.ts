import type { IncomingMessage } from 'node:http';

/** Such as the library at its version sends it; a newer version of the protocol has another date. */
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

export interface MessagesRequest {
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

/** What the protocol would refuse the request for, with status and type of the error. */
export function refusalOf(
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

/** Each question of the model is answered in the next turn, and no message is empty. */
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
