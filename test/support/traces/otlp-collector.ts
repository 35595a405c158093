import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { eventually } from '../jobs/eventually.js';
import { LoopbackServer } from '../loopback-server.js';

export interface SeenSpan {
  readonly traceId: string;
  readonly id: string;
  /** Id of the parent span. Empty for the root of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'consumer' | 'other';
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly id: string }[];
  readonly isError: boolean;
}

const KINDS: readonly SeenSpan['kind'][] = [
  'other',
  'internal',
  'server',
  'client',
  'other',
  'consumer',
];
const ERROR = 2;

/**
 * Collector that receives traces as OTLP in protobuf over HTTP, by the published definitions: https://github.com/open-
 * telemetry/opentelemetry-proto (collector/trace/v1, trace/v1).
 */
export class OtlpCollector extends LoopbackServer {
  readonly spans: SeenSpan[] = [];
  readonly resources: Readonly<Record<string, string | number>>[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** All received data as text, to check for forbidden content. */
  raw = '';
  /** `hang` accepts requests and never responds. */
  behaviour: 'take' | 'hang' | 'refuse' = 'take';

  static async start(): Promise<OtlpCollector> {
    return await new OtlpCollector().start();
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (request.url !== '/v1/traces' || request.method !== 'POST') {
      return void response.writeHead(404).end();
    }
    this.headers.push(request.headers);
    this.answer(body, response);
  }

  /** Waits until a matching span has arrived. */
  async spanWith(wanted: (span: SeenSpan) => boolean): Promise<SeenSpan> {
    const found = await eventually(
      () => this.spans.find(wanted),
      (span) => span !== undefined,
    );
    return found!;
  }

  /**
   * Returns the spans of a trace. After the end of the request they are complete, because spans arrive in the order in
   * which they end.
   */
  traceOf(traceId: string): SeenSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  private answer(body: Buffer, response: ServerResponse): void {
    if (this.behaviour === 'hang') return;
    if (this.behaviour === 'refuse') return void response.writeHead(401).end('who are you?');
    this.raw += body.toString('latin1');
    for (const ofResource of messagesIn(readMessage(body), 1)) {
      this.resources.push(attributesIn(messagesIn(ofResource, 1)[0]!, 1));
      for (const ofScope of messagesIn(ofResource, 2)) {
        this.spans.push(...messagesIn(ofScope, 2).map(spanFrom));
      }
    }
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }
}

function spanFrom(fields: Fields): SeenSpan {
  const [status] = messagesIn(fields, 15);
  return {
    traceId: hexIn(fields, 1),
    id: hexIn(fields, 2),
    parentId: hexIn(fields, 4),
    name: textIn(fields, 5),
    kind: KINDS[numberIn(fields, 6)] ?? 'other',
    attributes: attributesIn(fields, 9),
    links: messagesIn(fields, 13).map((link) => ({ traceId: hexIn(link, 1), id: hexIn(link, 2) })),
    isError: status !== undefined && numberIn(status, 3) === ERROR,
  };
}

function attributesIn(fields: Fields, number: number): Record<string, string | number> {
  return Object.fromEntries(
    messagesIn(fields, number).map((pair) => {
      const [value] = messagesIn(pair, 2);
      if (!value) throw new Error('An attribute has a value.');
      return [textIn(pair, 1), value.has(1) ? textIn(value, 1) : numberIn(value, 3)];
    }),
  );
}

/** Fields of a protobuf message by their numbers. */
type Fields = ReadonlyMap<number, readonly Field[]>;
type Field = Buffer | bigint;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Reads the wire format (https://protobuf.dev/programming-guides/encoding/). Throws on malformed data. */
function readMessage(bytes: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('The message is cut off.');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readers: Readonly<Record<number, () => Field>> = {
    [VARINT]: varint,
    [FIXED_64]: () => take(8),
    [BYTES]: () => take(Number(varint())),
    [FIXED_32]: () => take(4),
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const read = readers[tag & 7];
    if (!read) throw new RangeError(`There is no wire type ${tag & 7}.`);
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), read()]);
  }
  return fields;
}

function messagesIn(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((field) => readMessage(field as Buffer));
}

function textIn(fields: Fields, number: number): string {
  return (fields.get(number)?.[0] as Buffer | undefined)?.toString('utf8') ?? '';
}

function hexIn(fields: Fields, number: number): string {
  return (fields.get(number)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
}

function numberIn(fields: Fields, number: number): number {
  return Number(fields.get(number)?.[0] ?? 0n);
}
