import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { failure, type FakeAnswer } from './fake-messages-answers.js';
import { type MessagesRequest, refusalOf } from './fake-messages-check.js';
import { flood, LoopbackServer } from './loopback-server.js';

export interface SeenMessagesRequest {
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly body: MessagesRequest;
  /** The bytes as they came. */
  readonly text: string;
}

const MEGABYTE = 'x'.repeat(1_048_576);

/**
 * A provider that really listens and speaks the Messages protocol as the installed version of the library does. It
 * answers what it is told, in turn, and refuses what the real one would refuse.
 */
export class FakeMessagesApi extends LoopbackServer {
  readonly key = 'key-that-nobody-may-see';
  readonly requests: SeenMessagesRequest[] = [];
  /** Why requests were refused: empty when each was as the protocol has it. */
  readonly refused: string[] = [];
  /** Called when a request is there, before it is answered. */
  whenAsked: ((request: SeenMessagesRequest) => void) | undefined;
  /** Called when it was answered, or whoever asked has gone. */
  whenOver: ((request: SeenMessagesRequest) => void) | undefined;
  private turns: FakeAnswer[] = [];

  static async start(): Promise<FakeMessagesApi> {
    return await new FakeMessagesApi().start();
  }

  /** Answers the next requests so, and all that come after the last one like the last one. */
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
