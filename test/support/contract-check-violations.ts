import type {
  IncomingMessage,
  OutgoingHttpHeader,
  OutgoingHttpHeaders,
  Server,
  ServerResponse,
} from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ContractCheck, ObservedAnswer } from './contract-check.js';

/** A response that violates the contract fails the test that sent the request. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

const pending: string[] = [];

export function recordViolations(check: ContractCheck, answer: ObservedAnswer): void {
  const problems = check.problems(answer);
  if (problems.length === 0) return;
  const lines = problems.map((problem) => `  - ${problem}`).join('\n');
  pending.push(
    `${answer.method} ${answer.url} broke the contract (openapi/openapi.json):\n${lines}\n  answer: ${answer.status} ${answer.body.slice(0, 500)}`,
  );
}

/** Violations since the last call. The caller must report them in the test. */
export function takeViolations(): string[] {
  return pending.splice(0);
}

export function throwViolations(): void {
  const found = takeViolations();
  if (found.length > 0) throw new ContractViolation(found.join('\n'));
}

// Registered when the module is imported, so that tests without the client are checked too.
if (typeof afterEach === 'function') afterEach(throwViolations);
if (typeof afterAll === 'function') afterAll(throwViolations);

/** Checks each response of the server, no matter which client sent the request and which layer responded. */
export function checkAnswersOf(server: Server, check: ContractCheck): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Copied before a handler can rewrite the request.
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    let written: OutgoingHttpHeaders = {};
    const { writeHead, write, end } = response;
    const keep = (chunk: unknown): void => {
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    response.writeHead = (status: number, ...rest: unknown[]) => {
      const headers = rest.findLast((value) => typeof value === 'object');
      written = lowerCased(headers as OutgoingHttpHeaders | undefined);
      return Reflect.apply(writeHead, response, [status, ...rest]) as ServerResponse;
    };
    response.write = ((...args: unknown[]) => {
      keep(args[0]);
      return Reflect.apply(write, response, args) as boolean;
    }) as typeof write;
    response.end = ((...args: unknown[]) => {
      keep(args[0]);
      const headers = { ...response.getHeaders(), ...written };
      const body = unpacked(Buffer.concat(chunks), headers['content-encoding']).toString('utf8');
      recordViolations(check, { method, url, status: response.statusCode, headers, body });
      return Reflect.apply(end, response, args) as ServerResponse;
    }) as typeof end;
  });
}

function unpacked(bytes: Buffer, encoding: OutgoingHttpHeader | undefined): Buffer {
  if (bytes.length === 0) return bytes;
  if (encoding === 'br') return brotliDecompressSync(bytes);
  return encoding === 'gzip' ? gunzipSync(bytes) : bytes;
}

function lowerCased(headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
