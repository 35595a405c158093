/** Complete response. `body` is sent as JSON, unless it is a string. */
export interface WholeAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly afterMs?: number;
}

/** Reaction of the fake provider to a request. */
export type FakeAnswer = WholeAnswer | { readonly kind: 'hang' | 'cut' | 'huge' };

export const USAGE = {
  input_tokens: 100,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 1_000,
  output_tokens: 50,
};
/** Token counts of a response. */
export const TOKENS = { input: 1_110, output: 50, cached_input: 1_000 };

export const VERDICT = {
  classification: 'malicious',
  confidence: 0.8,
  category: 'phishing',
  reasoning: 'The sender is not who it says.',
  indicators: [],
  mitre_techniques: ['T1566'],
  evidence: [{ source: 'raw_data', pointer: '/subject', value: 'Invoice' }],
  recommended_actions: ['quarantine_email'],
};

/** Message of the protocol with these changed fields. */
export function message(more: Readonly<Record<string, unknown>>): WholeAnswer {
  const body = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5-20261101',
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE,
    ...more,
  };
  return { kind: 'answer', status: 200, body };
}

export function text(words: string, stopReason = 'end_turn'): WholeAnswer {
  return message({ content: [{ type: 'text', text: words }], stop_reason: stopReason });
}

export function verdict(more: Readonly<Record<string, unknown>> = {}): WholeAnswer {
  return text(JSON.stringify({ ...VERDICT, ...more }));
}

export interface FakeQuestion {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
}

export function toolUse(...questions: readonly FakeQuestion[]): FakeAnswer {
  const blocks = questions.map(({ name, input, id }, index) => ({
    type: 'tool_use',
    id: id ?? `toolu_${index + 1}`,
    name,
    input,
    caller: { type: 'direct' },
  }));
  const content = [{ type: 'text', text: 'I look at this first.' }, ...blocks];
  return message({ content, stop_reason: 'tool_use' });
}

export function refusal(category: unknown): FakeAnswer {
  const details = { type: 'refusal', category, explanation: 'It looks like an attack.' };
  return message({ stop_reason: 'refusal', stop_details: details });
}

export function failure(
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = { 'retry-after-ms': '1' },
): FakeAnswer {
  const body = { type: 'error', error: { type, message: 'No.' }, request_id: 'req_1' };
  return { kind: 'answer', status, body, headers };
}

export function page(html: string): FakeAnswer {
  return { kind: 'answer', status: 200, body: html, headers: { 'content-type': 'text/html' } };
}
