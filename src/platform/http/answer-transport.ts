import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { KnownRoutes } from './known-routes.js';
import { prefersAsync } from './prefer.js';

/** Below this size, compression saves less than its header costs. */
const SMALLEST_COMPRESSED_BYTES = 1024;

type Encoding = 'br' | 'gzip';
type Done = (error: Error | null, payload?: unknown) => void;

/**
 * Completes an answer on its way out: 304 for a caller that has the answer already, Location of what a POST created, and
 * compression.
 *
 * Only answers to GET are compressed. Keys, secrets and tokens are only in answers to POST and PUT, so an attacker who
 * observes the length of compressed answers (BREACH) learns nothing about them. Streams are sent as they are: a stream is
 * flushed as it is written. Answers with a strong ETag are sent as they are, too: a strong tag names the exact bytes.
 */
export function sendCompletely(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  routes: KnownRoutes,
  done: Done,
): void {
  const { headers, method } = request;
  if (reply.statusCode === 201) setLocation(request, reply, payload, routes);
  if (reply.statusCode === 202 && prefersAsync(request)) {
    void reply.header('preference-applied', 'respond-async');
  }
  if (reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) {
    return done(null, payload);
  }
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && hasAlready(headers['if-none-match'], etag)) {
    reply.removeHeader('content-type').removeHeader('content-length').status(304);
    // Fastify drops the body of an answer to HEAD itself, and keeps its Content-Length.
    return done(null, method === 'HEAD' ? payload : null);
  }
  if (!isCompressible(payload, etag)) return done(null, payload);
  // Also if this caller accepts no encoding, so that caches distinguish the encodings.
  void reply.header('vary', 'accept-encoding');
  const encoding = encodingFor(headers['accept-encoding']);
  if (!encoding) return done(null, payload);
  void reply.header('content-encoding', encoding).removeHeader('content-length');
  compressed(payload, encoding).then((packed) => done(null, packed), done);
}

function isCompressible(payload: unknown, etag: unknown): payload is string | Buffer {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  if (typeof etag === 'string' && etag.startsWith('"')) return false;
  return Buffer.byteLength(payload) > SMALLEST_COMPRESSED_BYTES;
}

/** Compressed files, which are sent often and never change. */
const packedFiles = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>();

export function compressed(bytes: Buffer | string, encoding: Encoding): Promise<Buffer> {
  const packed = typeof bytes === 'string' ? undefined : packedFiles.get(bytes);
  if (!packed) return compress(bytes, encoding, encoding === 'br' ? 4 : 6);
  return (packed[encoding] ??= compress(bytes, encoding, 9));
}

/** Compresses in the thread pool, outside of the event loop. */
function compress(bytes: Buffer | string, encoding: Encoding, level: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, packed: Buffer) => (error ? reject(error) : resolve(packed));
    if (encoding === 'gzip') gzip(bytes, { level }, done);
    else brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: level } }, done);
  });
}

/** The answer names the new resource by the parameter of the route that reads it, such as `/api/incidents/:id`. */
function setLocation(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  routes: KnownRoutes,
): void {
  const path = request.routeOptions.url;
  const parameter = path === undefined ? undefined : routes.parameterBelow(path, 'GET');
  if (parameter === undefined || typeof payload !== 'string') return;
  const { data } = JSON.parse(payload) as { data?: Readonly<Record<string, unknown>> };
  const id = data?.[parameter];
  if (typeof id === 'string') void reply.header('location', `${path}/${encodeURIComponent(id)}`);
}

/** If-None-Match compares weakly: proxies that compress make weak tags of strong ones. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** The smallest encoding that Accept-Encoding allows, by name or by `*`. A quality of 0 refuses an encoding. */
export function encodingFor(acceptEncoding: string | string[] | undefined): Encoding | undefined {
  const offers = new Map(
    [acceptEncoding ?? []]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((offer) => {
        const [name = '', ...options] = offer.split(';').map((part) => part.trim());
        return [name, !options.some((option) => /^q=0(\.0*)?$/.test(option))] as const;
      }),
  );
  return (['br', 'gzip'] as const).find((name) => offers.get(name) ?? offers.get('*') ?? false);
}

/** A file that is the same for all callers until the next release. It is compressed once, at the first request. */
export class StaticFile {
  /** A weak tag: it names the content, compressed or not. */
  readonly etag: string;

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {
    packedFiles.set(bytes, {});
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  }
}

export function sendFile(reply: FastifyReply, file: StaticFile, caching: string): void {
  const headers = { 'cache-control': caching, etag: file.etag, vary: 'accept-encoding' };
  void reply.headers(headers).type(file.type).send(file.bytes);
}
